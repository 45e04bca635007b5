/** The contract of the board of offers. Run over Redis by `redis-board.test.ts`, and over the model of the simulation. */
import { expect } from "chai";
import type { Board, Lane } from "../../src/board/board.ts";
import type { Offer } from "../../src/domain/effects.ts";
import { asId, type JobRunId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { type AgentSelector, ANY_AGENT, type Labels } from "../../src/domain/labels.ts";
import { NO_QUOTAS, type Quotas } from "../../src/domain/quotas.ts";

const LINUX = { os: "linux" };
const HOLD_MS = 60_000;

export interface BoardHarness {
  /** Another handle to the same board. Before each test the board is empty. */
  readonly open: (quotas?: Quotas) => Board;
  /** Answers what `look` finds, once it finds something, while time passes. */
  readonly later: <T>(what: string, look: () => Promise<T | undefined>) => Promise<T>;
}

export function boardContract({ open, later }: BoardHarness): void {
  let board: Board;
  beforeEach(() => void (board = open()));

  const takeOne = async (from: Board, labels: Labels, holdMs: number) => (await from.take({ labels }, holdMs, 1))[0];

  async function takeAll(labels = LINUX): Promise<string[]> {
    const taken: string[] = [];
    for (let offer = await takeOne(board, labels, HOLD_MS); offer; offer = await takeOne(board, labels, HOLD_MS)) {
      taken.push(offer.jobId);
    }
    return taken;
  }

  it("gives no offer while it is empty", async () => {
    expect(await takeOne(board, LINUX, HOLD_MS)).to.equal(undefined);
    expect(await board.size()).to.equal(0);
  });

  it("gives an offer as it was put", async () => {
    const offer = offerOf("a", { selector: needs("os", "linux"), priority: -3 });
    await board.offer(offer);
    expect(await takeOne(board, LINUX, HOLD_MS)).to.deep.equal({ ...offer, quotas: [] });
  });

  it("takes higher priorities first, then older offers", async () => {
    await board.offer(offerOf("low", { priority: -1, queuedAt: 1 }));
    await board.offer(offerOf("young", { queuedAt: 30 }));
    await board.offer(offerOf("old", { queuedAt: 20, selector: needs("os", "linux") }));
    await board.offer(offerOf("high", { priority: 10, queuedAt: 40 }));
    expect(await takeAll()).to.deep.equal(["high", "old", "young", "low"]);
  });

  it("serves projects in turn within a priority, however many offers each has", async () => {
    for (let n = 0; n < 5; n++) await board.offer(offerOf(`big${n}`, { projectId: project("big"), queuedAt: n }));
    for (let n = 0; n < 2; n++) {
      await board.offer(offerOf(`small${n}`, { projectId: project("small"), queuedAt: 100 + n }));
    }
    expect(await takeAll()).to.deep.equal(["big0", "small0", "big1", "small1", "big2", "big3", "big4"]);
  });

  it("serves a new project before one that has just been served", async () => {
    await board.offer(offerOf("a1", { projectId: project("a"), queuedAt: 1 }));
    await takeOne(board, LINUX, HOLD_MS);
    await board.offer(offerOf("a2", { projectId: project("a"), queuedAt: 2 }));
    await board.offer(offerOf("b1", { projectId: project("b"), queuedAt: 3 }));
    expect(await takeAll()).to.deep.equal(["b1", "a2"]);
  });

  it("gives an agent no offer whose selector does not match its labels", async () => {
    await board.offer(offerOf("gpu", { selector: needs("gpu", "yes") }));
    expect(await takeAll()).to.deep.equal([]);
    expect(await takeAll({ os: "linux", gpu: "yes" } as typeof LINUX)).to.deep.equal(["gpu"]);
  });

  it("gives a taken offer to no other agent until its hold has expired", async () => {
    await board.offer(offerOf("a"));
    await takeOne(board, LINUX, 50);
    expect(await takeOne(open(), LINUX, HOLD_MS)).to.equal(undefined);
    expect(await board.size()).to.equal(1);
    const back = await later("the offer is back", () => takeOne(board, LINUX, HOLD_MS));
    expect(back.jobId).to.equal("a");
  });

  it("makes a taken offer available again when it is put again", async () => {
    await board.offer(offerOf("a"));
    await takeOne(board, LINUX, HOLD_MS);
    await board.offer(offerOf("a"));
    expect(await takeAll()).to.deep.equal(["a"]);
  });

  it("holds an offer once however often it is put", async () => {
    for (let n = 0; n < 3; n++) await board.offer(offerOf("a"));
    expect(await board.size()).to.equal(1);
    expect(await takeAll()).to.deep.equal(["a"]);
  });

  it("keeps an offer that was made after the one to withdraw", async () => {
    await board.offer(offerOf("again", { queuedAt: 20 }));
    await board.withdraw(job("again"), 19);
    expect(await board.size()).to.equal(1);
    await board.withdraw(job("again"), 20);
    expect(await board.size()).to.equal(0);
  });

  it("replaces an offer by a later one of the job, taken or not, and drops an earlier one", async () => {
    for (const id of ["taken", "waiting"]) {
      await board.offer(offerOf(`before ${id}`, { queuedAt: 5 }));
      const first = offerOf(id, { queuedAt: 9 });
      const later = { ...first, priority: 3, queuedAt: 10 };
      await board.offer(first);
      if (id === "taken") await board.take({ labels: LINUX }, HOLD_MS, 2);
      await board.offer(later);
      await board.offer(first);
      await board.withdraw(job(id), 9);
      expect(await board.find([job(id)])).to.deep.equal([later]);
      expect(await takeAll()).to.deep.equal(id === "taken" ? [id] : [id, `before ${id}`]);
    }
    expect(await board.size()).to.equal(4);
  });

  it("drops an offer that comes after its withdrawal, and takes the next offer of the job", async () => {
    const withdrawn = offerOf("again", { queuedAt: 20 });
    await board.withdraw(job("again"), 20);
    await board.offer(withdrawn);
    expect(await board.size()).to.equal(0);
    await board.offer({ ...withdrawn, queuedAt: 21 });
    await board.withdraw(job("again"), 20);
    expect(await board.find([job("again")])).to.deep.equal([{ ...withdrawn, queuedAt: 21 }]);
  });

  it("gives several offers at once in the same order as one by one", async () => {
    for (let n = 0; n < 5; n++) await board.offer(offerOf(`job${n}`, { queuedAt: n, priority: n === 4 ? 1 : 0 }));
    const idsOf = async (count: number) =>
      (await board.take({ labels: LINUX }, HOLD_MS, count)).map(({ jobId }) => `${jobId}`);
    expect(await idsOf(3)).to.deep.equal(["job4", "job0", "job1"]);
    expect(await idsOf(3)).to.deep.equal(["job2", "job3"]);
    expect(await idsOf(3)).to.deep.equal([]);
  });

  it("gives each of many offers to exactly one of many takers", async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => board.offer(offerOf(`job${n}`, { queuedAt: n }))));
    const boards = Array.from({ length: 5 }, () => open());
    const taken = await Promise.all(Array.from({ length: 60 }, (_, n) => takeOne(boards[n % 5]!, LINUX, HOLD_MS)));
    const ids = taken.flatMap((offer) => (offer === undefined ? [] : [offer.jobId]));
    expect(ids).to.have.length(50);
    expect(new Set(ids)).to.have.length(50);
  });

  it("announces an offer when it becomes available, and not again while it is", async () => {
    const wakes: Lane[] = [];
    const stop = await board.onOffered((lane) => wakes.push(lane));
    await board.offer(offerOf("a"));
    await board.offer(offerOf("a"));
    await board.offer(offerOf("b"));
    await later("two wake-ups", () => Promise.resolve(wakes.length === 2 || undefined));
    await stop();
    await stop();
  });

  it("finds offers by their jobs, also taken ones", async () => {
    const [one, two] = [offerOf("one"), offerOf("two", { selector: needs("os", "linux") })];
    for (const offer of [one, two]) await board.offer(offer);
    await takeOne(board, LINUX, HOLD_MS);
    expect(await board.find([job("two"), job("unknown"), job("one")])).to.deep.equal([two, one]);
    expect(await board.find([])).to.deep.equal([]);
  });

  it("removes a withdrawn offer, waiting or taken, and ignores a repeat", async () => {
    await board.offer(offerOf("waiting"));
    await board.offer(offerOf("taken", { priority: 5 }));
    await takeOne(board, LINUX, HOLD_MS);
    for (let n = 0; n < 2; n++) {
      await board.withdraw(job("waiting"));
      await board.withdraw(job("taken"));
    }
    expect(await takeAll()).to.deep.equal([]);
    expect(await board.size()).to.equal(0);
  });

  describe("with quotas", () => {
    const GPU = { pool: "gpu" };
    const [ofDefault, ofGpu] = ["project:default", "label:pool=gpu"];
    const within = (quotas: Partial<Quotas>) => open({ ...NO_QUOTAS, ...quotas });
    const offerAll = async (...ids: string[]) => {
      for (const [at, id] of ids.entries()) await board.offer(offerOf(id, { queuedAt: at }));
    };
    const used = async (...ids: string[]) =>
      (await board.quotaUse(ids.map(project))).map(({ name, taken, limit }) => `${name} ${taken}/${limit}`);

    it("gives no more offers of a project than its quota, taken ones counted", async () => {
      board = within({ everyProject: 2 });
      await offerAll("a", "b", "c");
      await board.offer(offerOf("other", { projectId: project("small"), queuedAt: 9 }));
      expect(await takeAll()).to.deep.equal(["a", "other", "b"]);
      expect(await used("default", "small")).to.deep.equal(["project:default 2/2", "project:small 1/2"]);
      await board.vacate({ jobId: job("a"), quotas: [ofDefault] });
      expect(await takeAll()).to.deep.equal(["c"]);
    });

    it("keeps a quota when several gateways take offers at once", async () => {
      board = within({ everyProject: 7 });
      await offerAll(...Array.from({ length: 40 }, (_, at) => `j${at}`));
      const boards = Array.from({ length: 6 }, () => within({ everyProject: 7 }));
      const taken = await Promise.all(boards.map((other) => other.take({ labels: LINUX }, HOLD_MS, 8)));
      expect(taken.flat()).to.have.length(7);
    });

    it("prefers a project's own quota, higher or lower, to the one for every project", async () => {
      board = within({
        everyProject: 2,
        projects: new Map([
          ["default", 1],
          ["large", 3],
        ]),
      });
      await offerAll("a", "b");
      for (const id of ["l1", "l2", "l3", "l4"]) await board.offer(offerOf(id, { projectId: project("large") }));
      expect(await takeAll()).to.have.members(["a", "l1", "l2", "l3"]);
    });

    it("gives agents with a label no more offers than their quota, and others the rest", async () => {
      board = within({ labels: [{ key: "pool", value: "gpu", limit: 1 }] });
      await offerAll("a", "b");
      expect((await board.take({ labels: GPU }, HOLD_MS, 8)).map(({ jobId, quotas }) => [jobId, quotas])).to.deep.equal(
        [["a", [ofGpu]]],
      );
      expect(await board.take({ labels: GPU }, HOLD_MS, 8)).to.deep.equal([]);
      expect(await used()).to.deep.equal([`${ofGpu} 1/1`]);
      expect(await takeAll(LINUX)).to.deep.equal(["b"]);
    });

    it("gives an offer with room in its quota before one of higher priority without room", async () => {
      board = within({ projects: new Map([["urgent", 1]]) });
      for (const id of ["u1", "u2"]) await board.offer(offerOf(id, { projectId: project("urgent"), priority: 9 }));
      await offerAll("a");
      expect(await takeAll()).to.deep.equal(["u1", "a"]);
    });

    it("keeps the place of a granted job after its offer was withdrawn", async () => {
      board = within({ everyProject: 1 });
      await offerAll("a", "b");
      const taken = (await takeOne(board, LINUX, HOLD_MS))!;
      await board.occupy([taken]);
      await board.withdraw(taken.jobId);
      expect(await takeAll()).to.deep.equal([]);
      await board.vacate(taken);
      expect(await takeAll()).to.deep.equal(["b"]);
    });
  });
}

/** An offer of a job of the project `default`, for any agent. */
export function offerOf(jobId: string, overrides: Partial<Offer> = {}): Offer {
  return {
    runId: asId<RunId>("run_1"),
    jobId: job(jobId),
    jobIndex: 0,
    projectId: project("default"),
    selector: ANY_AGENT,
    priority: 0,
    queuedAt: 1_700_000_000_000,
    ...overrides,
  };
}

export const job = (id: string): JobRunId => asId<JobRunId>(id);
export const project = (id: string): ProjectId => asId<ProjectId>(id);
/** A selector of agents with this label. */
export const needs = (key: string, value: string): AgentSelector => ({
  matchLabels: [[key, value]],
  matchExpressions: [],
});
