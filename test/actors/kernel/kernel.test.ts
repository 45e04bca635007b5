import { expect } from "chai";
import { takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import { Kernel } from "../../../actors/kernel/kernel.ts";
import type { KernelTiming } from "../../../actors/kernel/kernel-context.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { type AgentId, asId, jobRunId, newId, type RootId, type RunId, stepRunId } from "../../../src/domain/ids.ts";
import type { RunPlan } from "../../../src/domain/plan.ts";
import type { AggregateSave, RunOrigin } from "../../../src/stores/ports/aggregates.ts";
import type { UserCommand } from "../../../src/domain/commands.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { jobSpecsOf, planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const SHARD = 3;
const AGENT = asId<AgentId>("agt_A");
const ORIGIN: RunOrigin = {
  trigger: { kind: "manual", ref: "" },
  variables: [],
  triggeredBy: "test",
  actor: "test",
  revisionId: "rev",
  commitSha: "",
  attempt: 1,
  retryOf: null,
  firstRunId: null,
};
const FAST: Partial<KernelTiming> = {
  sweepMs: 20,
  passivateMs: 40,
  parkMinMs: 5,
  parkMaxMs: 20,
  watchMs: 20,
  lossMarginMs: 60,
};

describe("the kernel", () => {
  let stores: Stores;
  let close: () => Promise<void>;
  let ports: RecordingPorts;
  let kernel: Kernel;
  let presence: Map<AgentId, { bootId: string; beat: string }>;
  let presenceReadable: boolean;
  /** The saves that the store received, in order. */
  let saves: AggregateSave<RootId>[];

  beforeEach(async () => {
    const opened = await openTestSqlite();
    close = () => opened.close();
    saves = [];
    stores = opened.stores;
    recordSaves(stores, saves);
    ports = new RecordingPorts();
    presence = new Map();
    presenceReadable = true;
    kernel = newKernel();
  });

  afterEach(async () => {
    await kernel.stop();
    await close();
  });

  function newKernel(timing: Partial<KernelTiming> = FAST): Kernel {
    return new Kernel({
      stores,
      feed: ports.feed,
      board: ports.board,
      mailboxes: ports.mailboxes,
      presence: {
        online: () => Promise.resolve([]),
        declareLost: () => Promise.resolve(),
        read: () => (presenceReadable ? Promise.resolve(presence) : Promise.reject(new Error("no Redis"))),
      },
      typeOf: aggregateTypeOf,
      shards: 16,
      clock: systemClock,
      log: silentLog,
      timing,
    });
  }

  async function trigger(plan: RunPlan = planOf([[{}]])): Promise<RunId> {
    const runId = newId("run");
    await stores.plans.put(runId, plan, jobSpecsOf(plan));
    await stores.aggregates.create(createRunAggregate({ runId, shard: SHARD, plan, origin: ORIGIN, now: Date.now() }));
    return runId;
  }

  /** Stores a run as an edge does: its first turn is taken, and its owed effects are not performed yet. */
  async function triggerBegun(plan: RunPlan): Promise<RunId> {
    const runId = newId("run");
    const now = Date.now();
    const created = createRunAggregate({ runId, shard: SHARD, plan, origin: ORIGIN, now });
    await stores.plans.put(runId, plan, jobSpecsOf(plan));
    await stores.aggregates.create(takeFirstTurn(created, plan, now, RUN_AGGREGATE, () => []));
    return runId;
  }

  const ring = (rootId: RunId): Promise<void> => kernel.receive(SHARD, [{ rootId, to: null, message: null }]);
  const claimOf = (rootId: RunId, index = 0, requestId = "r1") => ({
    rootId,
    to: { kind: "job", id: jobRunId(rootId, index, 1) },
    message: { type: "claimRequested", agentId: AGENT, bootId: "boot-1", requestId },
  });
  const reportOf = (rootId: RunId, phase: string, index = 0) => ({
    rootId,
    to: { kind: "step", id: stepRunId(rootId, jobRunId(rootId, index, 1), 0, 1) },
    message: { type: "reported", agentId: AGENT, token: 1, phase, exitCode: 0, reason: "", lastLine: 0, durationMs: 1 },
  });

  async function stateOf<State>(rootId: RunId, id: string): Promise<State> {
    const aggregate = await stores.aggregates.load(rootId);
    return aggregate!.actors.find((actor) => actor.id === id)!.state as State;
  }
  const runOf = (rootId: RunId): Promise<RunState> => stateOf<RunState>(rootId, rootId);
  const jobOf = (rootId: RunId, index = 0, attempt = 1): Promise<JobState> =>
    stateOf<JobState>(rootId, jobRunId(rootId, index, attempt));

  async function store(rootId: RunId, kind: UserCommand["kind"]): Promise<string> {
    const id = newId("cmd");
    await stores.inbox.insert({
      id,
      rootId,
      shard: SHARD,
      kind,
      reason: "",
      operator: "test",
      actor: "test",
      storedAt: 0,
    });
    return id;
  }

  it("leaves the effects of a run's first turn to its creator, and performs them after the grace", async () => {
    await kernel.stop();
    kernel = newKernel({ ...FAST, creatorMs: 300, passivateMs: 10_000 });
    await kernel.open(SHARD);
    const runId = await triggerBegun(planOf([[{}, {}]]));
    await kernel.receive(SHARD, [claimOf(runId)]);
    expect(ports.notices("dispatch")).to.have.length(1);
    expect(ports.offered).to.deep.equal([]);
    const { owed } = (await stores.aggregates.loadHead(runId))!;
    expect(owed.filter(({ effect }) => effect.type === "offer")).to.have.length(2);
    // The creator has died: the owner offers both jobs. A second claim withdraws the offer of the first job, which is
    // taken.
    await until("the offers", () => ports.offers.has(jobRunId(runId, 1, 1)));
    await kernel.receive(SHARD, [claimOf(runId, 0, "another claim")]);
    expect([...ports.offers.keys()]).to.deep.equal([jobRunId(runId, 1, 1)]);
    const events = await stores.events.read(runId, 0, 100);
    expect(events.map(({ number }) => number)).to.deep.equal(events.map((_, index) => index + 1));
  });

  it("settles a run that ends within the grace of its creator", async () => {
    await kernel.open(SHARD);
    const runId = await triggerBegun(planOf([[{}]]));
    await kernel.receive(SHARD, [claimOf(runId)]);
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    expect(await stores.aggregates.loadHead(runId)).to.include({ final: true, settled: true });
    expect(ports.offered).to.deep.equal([]);
  });

  it("performs the owed effects of an older run's first turn by itself", async () => {
    await kernel.stop();
    kernel = newKernel({ ...FAST, creatorMs: 0 });
    await kernel.open(SHARD);
    const runId = await triggerBegun(planOf([[{}]]));
    await until("the offer", () => ports.offers.has(jobRunId(runId, 0, 1)));
  });

  it("runs a run to its end, and saves before it performs effects", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    expect(ports.offers.size).to.equal(1);
    await kernel.receive(SHARD, [claimOf(runId)]);
    expect(ports.notices("dispatch")).to.have.length(1);
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    const head = (await stores.aggregates.loadHead(runId))!;
    expect(head).to.include({ final: true, settled: true, nextDueAt: null });
    expect(head.summary.status).to.equal("success");
    const events = await stores.events.read(runId, 0, 100);
    expect(events.map(({ number }) => number)).to.deep.equal(events.map((_, index) => index + 1));
    expect(events.at(-1)).to.include({ object: "pipeline", lifecycle: "completed", status: "success" });
  });

  it("settles a final run that a dead owner left with owed effects, and answers a stale report", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    await kernel.receive(SHARD, [claimOf(runId)]);
    ports.outage = true;
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    kernel.close(SHARD);
    expect(await stores.aggregates.loadHead(runId)).to.include({ final: true, settled: false });
    ports.outage = false;
    const next = newKernel({ ...FAST, sweepMs: 60_000 });
    await next.open(SHARD);
    await next.receive(SHARD, [reportOf(runId, "succeeded")]);
    expect(await stores.aggregates.loadHead(runId)).to.include({ final: true, settled: true });
    expect(next.counters).to.include({ conflicts: 0, late: 1 });
    expect(ports.notices("acknowledge").length).to.be.above(0);
    await next.stop();
  });

  it("begins a run whose doorbell was lost", async () => {
    await kernel.open(SHARD);
    await trigger();
    await until("the sweep offers the job", () => ports.offers.size === 1, 2_000);
  });

  it("decides messages that wait together in one save", async () => {
    await kernel.open(SHARD);
    const runId = await trigger(planOf([[{}, {}, {}, {}]]));
    await ring(runId);
    saves.length = 0;
    await kernel.receive(
      SHARD,
      [0, 1, 2, 3].map((index) => claimOf(runId, index, `r${index}`)),
    );
    expect(saves).to.have.length(1);
    expect(ports.notices("dispatch")).to.have.length(4);
  });

  it("decides a message again when another owner has saved in between, and applies it once", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    const other = (await stores.aggregates.load(runId))!;
    const { version } = other.head;
    expect(
      await stores.aggregates.save({
        expectedVersion: version,
        head: { ...other.head, version: version + 1 },
        changed: [],
        events: [],
      }),
    ).to.equal("saved");
    await kernel.receive(SHARD, [claimOf(runId)]);
    expect(kernel.counters.conflicts).to.equal(1);
    expect((await jobOf(runId)).state).to.equal("running");
    expect(ports.notices("dispatch")).to.have.length(1);
  });

  it("parks an aggregate while Redis is away, and performs its owed effects afterwards", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    ports.outage = true;
    await ring(runId);
    expect((await runOf(runId)).state).to.equal("running");
    expect((await stores.aggregates.loadHead(runId))!.owed).to.not.deep.equal([]);
    expect(ports.offers.size).to.equal(0);
    ports.outage = false;
    await until("the offer is made", () => ports.offers.size === 1);
  });

  it("performs the effects that a dead owner saved and did not perform", async () => {
    const dead = newKernel({ ...FAST, parkMinMs: 60_000, parkMaxMs: 60_000 });
    await dead.open(SHARD);
    const runId = await trigger();
    ports.outage = true;
    await dead.receive(SHARD, [{ rootId: runId, to: null, message: null }]);
    dead.close(SHARD);
    await dead.stop();
    ports.outage = false;
    await kernel.open(SHARD);
    await until("the new owner makes the offer", () => ports.offers.size === 1);
    const events = await stores.events.read(runId, 0, 10);
    expect(events.map(({ number }) => number)).to.deep.equal([1, 2, 3]);
  });

  it("saves nothing more once its shard is closed", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    const { version } = (await stores.aggregates.loadHead(runId))!;
    kernel.close(SHARD);
    await kernel.receive(SHARD, [claimOf(runId)]);
    expect((await stores.aggregates.loadHead(runId))!.version).to.equal(version);
  });

  it("decides stored commands in their order and answers each, also without a doorbell", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    const ids = [];
    for (const kind of ["pause", "pause", "resume", "stop"] as const) ids.push(await store(runId, kind));
    await until("all are answered", async () => (await stores.inbox.pending(runId)).length === 0);
    const verdicts = await Promise.all(ids.map((id) => stores.inbox.verdict(asId(id))));
    expect(verdicts.map((verdict) => verdict!.outcome)).to.deep.equal(["accepted", "refused", "accepted", "accepted"]);
    expect((await runOf(runId)).state).to.equal("cancelled");
  });

  it("drops an idle aggregate from memory once it owes nothing, and loads it again for a message", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    await until("it is passivated", () => kernel.counters.activations === 0);
    expect((await stores.aggregates.loadHead(runId))!.owed).to.deep.equal([]);
    await kernel.receive(SHARD, [claimOf(runId)]);
    expect((await jobOf(runId)).state).to.equal("running");
  });

  it("fires the timer of a passivated aggregate from the store", async () => {
    await kernel.open(SHARD);
    const runId = await trigger(planOf([[{ queueTimeoutMs: 150 }]]));
    await ring(runId);
    expect(ports.scheduled).to.have.length(1);
    await until("the run fails by its queue timeout", async () => (await runOf(runId)).state === "failed");
    expect((await jobOf(runId)).reason).to.equal("queue_timeout");
  });

  it("tells an emptied Redis again about every unsettled aggregate", async () => {
    await kernel.open(SHARD);
    const waiting = await Promise.all(Array.from({ length: 250 }, () => trigger()));
    await until("all are offered", () => ports.offers.size === waiting.length);
    ports.offers.clear();
    await kernel.redisLost(SHARD);
    expect(ports.offers.size).to.equal(waiting.length);
  });

  it("stores a message that cannot be decided as a dead letter, and decides the next one", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    await kernel.receive(SHARD, [
      { rootId: runId, to: { kind: "job", id: jobRunId(runId, 0, 1) }, message: { type: "stageOpened" } },
      claimOf(runId),
    ]);
    const [deadLetter] = await stores.deadLetters.list({ offset: 0, limit: 10, descending: false });
    expect(deadLetter).to.include({ rootId: runId, shard: SHARD });
    expect(deadLetter!.reason).to.equal("the input stillBlocked is not valid for a job that is queued");
    expect((await jobOf(runId)).state).to.equal("running");
  });

  it("survives any garbage in a mailbox", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    await kernel.receive(SHARD, [
      { rootId: "run_UNKNOWN", to: null, message: null },
      { rootId: runId, to: { kind: "job", id: "job_UNKNOWN" }, message: 7 },
      { rootId: runId, to: { kind: "run", id: runId }, message: null },
      { rootId: runId, to: { kind: "pipeline", id: runId }, message: { type: "start" } },
    ]);
    expect(await stores.deadLetters.count()).to.equal(3);
    expect((await runOf(runId)).state).to.equal("running");
  });

  describe("watching agents", () => {
    async function running(): Promise<RunId> {
      const base = planOf([[{ leaseMs: 100 }]]);
      await kernel.open(SHARD);
      const runId = await trigger(base);
      await ring(runId);
      await kernel.receive(SHARD, [claimOf(runId)]);
      return runId;
    }

    it("makes a new attempt of a job whose agent is silent for longer than its lease", async () => {
      presence.set(AGENT, { bootId: "boot-1", beat: "1" });
      const runId = await running();
      await until("the first attempt has failed", async () => (await jobOf(runId)).state === "failed");
      expect((await jobOf(runId)).reason).to.equal("agent_lost");
      expect((await jobOf(runId, 0, 2)).state).to.equal("queued");
    });

    it("leaves a job alone while the beats of its agent change", async () => {
      let beat = 0;
      const beating = setInterval(() => presence.set(AGENT, { bootId: "boot-1", beat: String(++beat) }), 15);
      const runId = await running();
      const beats = 30;
      await until("time passes", () => beat > beats, 5_000);
      clearInterval(beating);
      expect((await jobOf(runId)).state).to.equal("running");
    });

    it("counts no silence while presence cannot be read", async () => {
      presenceReadable = false;
      const runId = await running();
      const since = performance.now();
      await until("more than the lease passes", () => performance.now() - since > 400);
      expect((await jobOf(runId)).state).to.equal("running");
      presenceReadable = true;
      await until("the first attempt has failed", async () => (await jobOf(runId)).state === "failed");
    });

    it("watches agents of jobs that were bound before it became the owner", async () => {
      const runId = await running();
      await kernel.drain(SHARD);
      kernel.close(SHARD);
      await kernel.open(SHARD);
      await until("the first attempt has failed", async () => (await jobOf(runId)).state === "failed");
    });
  });

  it("owes nothing and keeps no aggregate in memory after it has drained a shard", async () => {
    await kernel.open(SHARD);
    const runs = await Promise.all(Array.from({ length: 20 }, () => trigger()));
    await Promise.all(runs.map(ring));
    await kernel.drain(SHARD);
    kernel.close(SHARD);
    expect(await stores.aggregates.pageOwing(SHARD, "", 100)).to.deep.equal([]);
    expect(kernel.counters.activations).to.equal(0);
  });

  it("keeps the state of a step when its agent sends a report that means nothing", async () => {
    await kernel.open(SHARD);
    const runId = await trigger();
    await ring(runId);
    await kernel.receive(SHARD, [claimOf(runId), reportOf(runId, "nonsense")]);
    const step = await stateOf<StepState>(runId, stepRunId(runId, jobRunId(runId, 0, 1), 0, 1));
    expect(step.state).to.equal("queued");
  });
});

/** Records the saves that the real store receives. */
function recordSaves(stores: Stores, saves: AggregateSave<RootId>[]): void {
  const save = stores.aggregates.save.bind(stores.aggregates);
  stores.aggregates.save = (change) => {
    saves.push(change);
    return save(change);
  };
}
