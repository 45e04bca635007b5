/** Claims of an agent, on a board and mailboxes that answer when a test says so. */
import { expect } from "chai";
import type { TakenOffer } from "../../src/board/board.ts";
import { type AgentId, asId, type JobRunId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { PendingClaims } from "../../src/gateway/pending-claims.ts";

const AGENT = { agentId: asId<AgentId>("agt_1"), bootId: "boot-1" };
const LABELS = { os: "linux" };

const offer = (name: string): TakenOffer => ({
  runId: asId<RunId>(`run_${name}`),
  jobId: asId<JobRunId>(`job_${name}`),
  jobIndex: 0,
  projectId: asId<ProjectId>("default"),
  selector: { matchLabels: [], matchExpressions: [] },
  priority: 0,
  queuedAt: 0,
  quotas: [`q-${name}`],
});

describe("the pending claims of an agent", () => {
  let taken: Parameters<Ports["board"]["take"]>[];
  let hidden: Parameters<Ports["board"]["hide"]>[];
  let sent: Parameters<Ports["mailboxes"]["send"]>[0][];
  let settled: number;
  let attendanceId: string;
  let isStopped: boolean;
  type Ports = ConstructorParameters<typeof PendingClaims>[0];

  beforeEach(() => {
    taken = [];
    hidden = [];
    sent = [];
    settled = 0;
    attendanceId = "attendance";
    isStopped = false;
  });

  interface Behaviour {
    /** What the board answers. */
    readonly offers?: () => Promise<readonly TakenOffer[]>;
    /** What a mailbox does with a message. */
    readonly receive?: () => Promise<void>;
    /** What the board does when vacancies are hidden. */
    readonly hide?: () => Promise<void>;
    readonly waitMs?: number;
    readonly onSettled?: () => void;
  }

  const openClaims: PendingClaims[] = [];
  afterEach(() => openClaims.splice(0).forEach((claims) => claims.close()));

  function claimsOf({ offers, receive, hide, waitMs, onSettled }: Behaviour): PendingClaims {
    const ports: Ports = {
      board: {
        take: (...call) => {
          taken.push(call);
          return offers?.() ?? Promise.resolve([offer("a")]);
        },
        hide: (...call) => {
          hidden.push(call);
          return hide?.() ?? Promise.resolve();
        },
      },
      claimQueue: {
        get attendanceId() {
          return attendanceId;
        },
        get isStopped() {
          return isStopped;
        },
      },
      mailboxes: {
        send: (message) => {
          sent.push(message);
          return receive?.() ?? Promise.resolve();
        },
      },
    };
    const count = (): void => {
      settled++;
      onSettled?.();
    };
    let ids = 0;
    const claims = new PendingClaims(ports, AGENT, {
      streamId: "stream",
      newId: () => `r${++ids}`,
      onSettled: count,
      ...(waitMs !== undefined && { waitMs }),
    });
    openClaims.push(claims);
    return claims;
  }

  it("take offers that match the labels, and ask each job in the name of the agent", async () => {
    const claims = claimsOf({ offers: () => Promise.resolve([offer("a"), offer("b")]) });
    expect(await claims.claim({ labels: LABELS }, 2)).to.equal(2);
    const vacancies = {
      ...AGENT,
      attendanceId: "attendance",
      streamId: "stream",
      requestIds: ["r3", "r4"],
      seen: [],
      areShown: false,
    };
    expect(taken).to.deep.equal([[{ labels: LABELS }, 2_000, 2, vacancies]]);
    const claimOf = (name: string, requestId: string) => ({
      rootId: `run_${name}`,
      to: { kind: "job", id: `job_${name}` },
      message: { type: "claimRequested", ...AGENT, requestId, quotas: [`q-${name}`] },
    });
    expect(sent).to.deep.equal([claimOf("a", "r1"), claimOf("b", "r2")]);
    expect([claims.count, settled]).to.deep.equal([2, 0]);
  });

  it("show all free slots, and take offers for some of them", async () => {
    const claims = claimsOf({ offers: () => Promise.resolve([offer("a")]) });
    expect(await claims.claim({ labels: LABELS }, 1, 3)).to.equal(1);
    const [, , count, { requestIds } = { requestIds: [] }] = taken[0]!;
    expect([count, requestIds.length, sent.length]).to.deep.equal([1, 3, 1]);
    expect([claims.count, claims.vacancies]).to.deep.equal([1, 2]);
  });

  it("end without an answer after their time, once", async () => {
    let claims!: PendingClaims;
    const timedOut = new Promise<void>((resolve) => {
      claims = claimsOf({ waitMs: 1, onSettled: resolve });
    });
    expect(await claims.claim({ labels: LABELS }, 1)).to.equal(1);
    expect(claims.count, "a claim waits for its answer").to.equal(1);
    await timedOut;
    expect(claims.count).to.equal(0);
    claims.settle("r1");
    expect(settled, "an answer that comes later changes nothing").to.equal(1);
  });

  it("end with their answer, once, and leave other claims waiting", async () => {
    const claims = claimsOf({ offers: () => Promise.resolve([offer("a"), offer("b")]) });
    await claims.claim({ labels: LABELS }, 2);
    claims.settle("r1");
    claims.settle("r1");
    claims.settle("another agent's");
    expect([claims.count, settled]).to.deep.equal([1, 1]);
  });

  it("count before the board has answered", async () => {
    let answer!: (offers: readonly TakenOffer[]) => void;
    const claims = claimsOf({ offers: () => new Promise((resolve) => (answer = resolve)) });
    const claiming = claims.claim({ labels: LABELS }, 2);
    expect(claims.count).to.equal(2);
    answer([offer("a")]);
    expect(await claiming).to.equal(1);
    expect([claims.count, settled], "the claim without an offer holds no slot").to.deep.equal([1, 0]);
  });

  it("end with an answer that comes before the call to the mailbox has returned", async () => {
    let delivered!: () => void;
    const claims = claimsOf({ receive: () => new Promise((resolve) => (delivered = resolve)) });
    const claiming = claims.claim({ labels: LABELS }, 1);
    // The board's answer is a promise of its own, which has to settle first.
    while (sent.length === 0) await Promise.resolve();
    claims.settle("r1");
    expect([claims.count, settled]).to.deep.equal([0, 1]);
    delivered();
    expect(await claiming, "the offer was there").to.equal(1);
    expect([claims.count, settled]).to.deep.equal([0, 1]);
  });

  it("hold no slot when there is no offer", async () => {
    const claims = claimsOf({ offers: () => Promise.resolve([]) });
    expect(await claims.claim({ labels: LABELS }, 2)).to.equal(0);
    expect([claims.count, settled, sent.length]).to.deep.equal([0, 0, 0]);
  });

  for (const [what, behaviour] of [
    ["board", { offers: () => Promise.reject(new Error("no Redis")) }],
    ["mailbox", { receive: () => Promise.reject(new Error("no Redis")) }],
  ] as const) {
    it(`hold no slot when the ${what} cannot be reached, and the caller gets the error`, async () => {
      const claims = claimsOf(behaviour);
      const error: unknown = await claims.claim({ labels: LABELS }, 1).catch((caught: unknown) => caught);
      expect(String(error)).to.include("no Redis");
      expect([claims.count, settled]).to.deep.equal([0, 0]);
    });
  }

  it("end all at once when they are closed, and report nothing then or later", async () => {
    const claims = claimsOf({ offers: () => Promise.resolve([offer("a"), offer("b")]) });
    await claims.claim({ labels: LABELS }, 2);
    claims.close();
    claims.close();
    claims.settle("r2");
    expect([claims.count, settled]).to.deep.equal([0, 0]);
  });

  describe("of a slot without an offer", () => {
    const none = { offers: () => Promise.resolve([]) };
    const agent = { labels: LABELS };
    const shown = () => taken.map(([, , , vacancies]) => [vacancies!.requestIds, vacancies!.areShown]);

    it("leave a vacancy on the board, which keeps its id until it is used", async () => {
      const claims = claimsOf(none);
      await claims.claim(agent, 2);
      expect([claims.vacancies, claims.count]).to.deep.equal([2, 0]);
      await claims.claim(agent, 2);
      await claims.claim({ labels: LABELS }, 2);
      await claims.claim(agent, 1);
      expect(shown(), "shown again for other labels, and for fewer slots").to.deep.equal([
        [["r3", "r4"], false],
        [["r3", "r4"], true],
        [["r3", "r4"], false],
        [["r3"], false],
      ]);
      expect(claims.vacancies).to.equal(1);
    });

    it("tell the board of a reservation that a dispatch has answered, and never show its id again", async () => {
      const claims = claimsOf(none);
      await claims.claim(agent, 1);
      claims.granted("r2");
      expect([claims.vacancies, settled]).to.deep.equal([0, 0]);
      await claims.claim(agent, 1);
      expect(taken[1]![3]).to.deep.include({ requestIds: ["r4"], seen: ["r2"], areShown: false });
      claims.granted("of another gateway");
      await claims.claim(agent, 2);
      expect(taken[2]![3]).to.deep.include({ requestIds: ["r4", "r7"], seen: ["of another gateway"] });
      claims.granted("");
      await claims.claim(agent, 1);
      expect(taken[3]![3]).to.deep.include({ requestIds: ["r4"], seen: [] });
    });

    it("show the slot under another id when a reservation has ended without a dispatch", async () => {
      const claims = claimsOf(none);
      await claims.claim(agent, 1);
      claims.reservationEnded("r2");
      expect([claims.vacancies, settled]).to.deep.equal([0, 1]);
      await claims.claim(agent, 1);
      expect(shown()[1]).to.deep.equal([["r4"], false]);
    });

    it("show new ids in another attendance, because the board may have forgotten which were reserved", async () => {
      const claims = claimsOf(none);
      await claims.claim(agent, 1);
      attendanceId = "another";
      await claims.claim(agent, 1);
      expect(taken[1]![3]).to.deep.include({ requestIds: ["r4"], attendanceId: "another", areShown: false });
    });

    it("are as many fewer as offers were there, and claim under another id than that of a vacancy", async () => {
      const claims = claimsOf({ offers: () => Promise.resolve([{ ...offer("a"), vacancy: "r4" }]) });
      await claims.claim(agent, 2);
      expect(sent[0]!.message).to.include({ requestId: "r1" });
      expect([claims.count, claims.vacancies]).to.deep.equal([1, 1]);
      claims.reservationEnded("r4");
      expect(claims.vacancies).to.equal(1);
      claims.reservationEnded("r3");
      expect(claims.vacancies).to.equal(0);
    });

    it("hide the vacancies once, again until the board can be reached, and after an answer that is under way", async () => {
      let fails = 2;
      const claims = claimsOf({
        ...none,
        hide: () => (fails-- > 0 ? Promise.reject(new Error("no Redis")) : Promise.resolve()),
      });
      claims.hide();
      expect(hidden.length, "there is nothing to hide").to.equal(0);
      const claiming = claims.claim(agent, 1);
      claims.close();
      expect(hidden.length).to.equal(0);
      await claiming;
      claims.close();
      expect(claims.vacancies).to.equal(0);
      while (hidden.length < 3) await new Promise((resolve) => setTimeout(resolve, 50));
      expect(hidden).to.deep.equal(Array(3).fill([AGENT.agentId, "stream"]));
    });

    it("hide the vacancies only as long as the gateway attends them", async () => {
      const claims = claimsOf({ ...none, hide: () => Promise.reject(new Error("no Redis")) });
      await claims.claim(agent, 1);
      claims.close();
      while (hidden.length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
      isStopped = true;
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      expect(hidden.length, "at most the attempt that was under way").to.be.within(2, 3);
    });
  });
});
