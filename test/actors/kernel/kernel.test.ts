import { expect } from "chai";
import type { Kernel } from "../../../actors/kernel/kernel.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { asId, jobRunId, type RunId, stepRunId } from "../../../src/domain/ids.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import type { RecordingPorts } from "../../support/kernel-ports.ts";
import {
  claimOf,
  doorbell,
  FAST_TIMING,
  KERNEL_AGENT,
  KERNEL_SHARD as SHARD,
  KernelWorld,
  reportOf,
} from "../../support/kernel-world.ts";
import { planOf } from "../../support/plans.ts";
import { until } from "../../support/until.ts";

describe("the kernel", () => {
  let world: KernelWorld;
  let stores: Stores;
  let ports: RecordingPorts;
  let kernel: Kernel;

  beforeEach(async () => {
    world = await KernelWorld.open();
    ({ stores, ports } = world);
    kernel = world.kernel();
  });

  afterEach(() => world.close());

  const ring = (rootId: RunId): Promise<void> => kernel.receive(SHARD, [doorbell(rootId)]);

  it("leaves the effects of a run's first turn to its creator, and performs them after the grace", async () => {
    await kernel.stop();
    kernel = world.kernel({ ...FAST_TIMING, creatorMs: 300, passivateMs: 10_000 });
    await kernel.open(SHARD, 1);
    const runId = await world.triggerBegun(planOf([[{}, {}]]));
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
    await kernel.open(SHARD, 1);
    const runId = await world.triggerBegun(planOf([[{}]]));
    await kernel.receive(SHARD, [claimOf(runId)]);
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    expect(await stores.aggregates.loadHead(runId)).to.include({ final: true, settled: true });
    expect(ports.offered).to.deep.equal([]);
  });

  it("performs the owed effects of an older run's first turn by itself", async () => {
    await kernel.stop();
    kernel = world.kernel({ ...FAST_TIMING, creatorMs: 0 });
    await kernel.open(SHARD, 1);
    const runId = await world.triggerBegun(planOf([[{}]]));
    await until("the offer", () => ports.offers.has(jobRunId(runId, 0, 1)));
  });

  it("runs a run to its end, and saves before it performs effects", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
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

  it("settles a run with its last save where the events are stored with it, and its next owner answers a stale report", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    await kernel.receive(SHARD, [claimOf(runId)]);
    ports.outage = true;
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    kernel.close(SHARD, 1);
    const head = (await stores.aggregates.loadHead(runId))!;
    expect(head).to.deep.include({ final: true, settled: true, owed: [] });
    expect((await stores.events.read(runId, 0, 100)).at(-1)).to.include({ number: head.eventNumber });
    ports.outage = false;
    const next = world.kernel({ ...FAST_TIMING, sweepMs: 60_000 });
    await next.open(SHARD, 1);
    await next.receive(SHARD, [reportOf(runId, "succeeded")]);
    expect(next.counters).to.include({ conflicts: 0, late: 1 });
    expect(ports.notices("acknowledge").length).to.be.above(0);
    expect((await stores.aggregates.loadHead(runId))!.version).to.equal(head.version);
    next.close(SHARD, 1);
  });

  it("tells the agent of a settled run that its report was processed, once Redis answers again", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    await kernel.receive(SHARD, [claimOf(runId)]);
    ports.outage = true;
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    ports.outage = false;
    await until("the agent is told", () => Promise.resolve(ports.notices("acknowledge").length > 0));
  });

  it("settles a final run that a dead owner left with owed effects, and answers a stale report", async () => {
    // As a store that writes the events after the snapshot.
    Object.defineProperty(stores.aggregates, "savesEventsAtOnce", { value: false });
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    await kernel.receive(SHARD, [claimOf(runId)]);
    ports.outage = true;
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    kernel.close(SHARD, 1);
    expect(await stores.aggregates.loadHead(runId)).to.include({ final: true, settled: false });
    ports.outage = false;
    const next = world.kernel({ ...FAST_TIMING, sweepMs: 60_000 });
    await next.open(SHARD, 1);
    await next.receive(SHARD, [reportOf(runId, "succeeded")]);
    expect(await stores.aggregates.loadHead(runId)).to.include({ final: true, settled: true });
    expect(next.counters).to.include({ conflicts: 0, late: 1 });
    expect(ports.notices("acknowledge").length).to.be.above(0);
    await next.stop();
  });

  it("begins a run whose doorbell was lost", async () => {
    await kernel.open(SHARD, 1);
    await world.trigger();
    await until("the sweep offers the job", () => ports.offers.size === 1, 2_000);
  });

  it("decides messages that wait together in one save", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger(planOf([[{}, {}, {}, {}]]));
    await ring(runId);
    world.saves.length = 0;
    await kernel.receive(
      SHARD,
      [0, 1, 2, 3].map((index) => claimOf(runId, index, `r${index}`)),
    );
    expect(world.saves).to.have.length(1);
    expect(ports.notices("dispatch")).to.have.length(4);
  });

  it("decides a message again when another owner has saved in between, and applies it once", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
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
    expect((await world.jobOf(runId)).state).to.equal("running");
    expect(ports.notices("dispatch")).to.have.length(1);
  });

  it("parks an aggregate while Redis is away, and performs its owed effects afterwards", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    ports.outage = true;
    await ring(runId);
    expect((await world.runOf(runId)).state).to.equal("running");
    expect((await stores.aggregates.loadHead(runId))!.owed).to.not.deep.equal([]);
    expect(ports.offers.size).to.equal(0);
    ports.outage = false;
    await until("the offer is made", () => ports.offers.size === 1);
  });

  it("performs the effects that a dead owner saved and did not perform", async () => {
    const dead = world.kernel({ ...FAST_TIMING, parkMinMs: 60_000, parkMaxMs: 60_000 });
    await dead.open(SHARD, 1);
    const runId = await world.trigger();
    ports.outage = true;
    await dead.receive(SHARD, [doorbell(runId)]);
    dead.close(SHARD, 1);
    await dead.stop();
    ports.outage = false;
    await kernel.open(SHARD, 1);
    await until("the new owner makes the offer", () => ports.offers.size === 1);
    const events = await stores.events.read(runId, 0, 10);
    expect(events.map(({ number }) => number)).to.deep.equal([1, 2, 3]);
  });

  it("saves nothing more once its shard is closed", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    const { version } = (await stores.aggregates.loadHead(runId))!;
    kernel.close(SHARD, 1);
    await kernel.receive(SHARD, [claimOf(runId)]);
    expect((await stores.aggregates.loadHead(runId))!.version).to.equal(version);
  });

  it("decides stored commands in their order and answers each, also without a doorbell", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    const ids = [];
    for (const kind of ["pause", "pause", "resume", "stop"] as const) ids.push(await world.command(runId, kind));
    await until("all are answered", async () => (await stores.inbox.pending(runId)).length === 0);
    const verdicts = await Promise.all(ids.map((id) => stores.inbox.verdict(asId(id))));
    expect(verdicts.map((verdict) => verdict!.outcome)).to.deep.equal(["accepted", "refused", "accepted", "accepted"]);
    expect((await world.runOf(runId)).state).to.equal("cancelled");
  });

  it("drops an idle aggregate from memory once it owes nothing, and loads it again for a message", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    await until("it is passivated", () => kernel.counters.activations === 0);
    expect((await stores.aggregates.loadHead(runId))!.owed).to.deep.equal([]);
    await kernel.receive(SHARD, [claimOf(runId)]);
    expect((await world.jobOf(runId)).state).to.equal("running");
  });

  it("fires the timer of a passivated aggregate from the store", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger(planOf([[{ queueTimeoutMs: 150 }]]));
    await ring(runId);
    expect(ports.scheduled).to.have.length(1);
    await until("the run fails by its queue timeout", async () => (await world.runOf(runId)).state === "failed");
    expect((await world.jobOf(runId)).reason).to.equal("queue_timeout");
  });

  it("tells an emptied Redis again about every unsettled aggregate", async () => {
    await kernel.open(SHARD, 1);
    const waiting = await Promise.all(Array.from({ length: 250 }, () => world.trigger()));
    await until("all are offered", () => ports.offers.size === waiting.length);
    ports.offers.clear();
    await kernel.redisLost(SHARD);
    expect(ports.offers.size).to.equal(waiting.length);
  });

  it("warns once of an emptied Redis, however many shards notice it", async () => {
    const warnings: string[] = [];
    const ignore = (): void => {};
    const log = { debug: ignore, info: ignore, error: ignore, warn: (_: unknown, text: string) => warnings.push(text) };
    const watched = world.kernel(FAST_TIMING, log);
    await Promise.all([0, 1, 2, 3].map((shard) => watched.redisLost(shard)));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include("Redis was emptied or restarted");
  });

  it("stores a message that cannot be decided as a dead letter, and decides the next one", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    await kernel.receive(SHARD, [
      { rootId: runId, to: { kind: "job", id: jobRunId(runId, 0, 1) }, message: { type: "stageOpened" } },
      claimOf(runId),
    ]);
    const [deadLetter] = await stores.deadLetters.list({ offset: 0, limit: 10, descending: false });
    expect(deadLetter).to.include({ rootId: runId, shard: SHARD });
    expect(deadLetter!.reason).to.equal("the input stillBlocked is not valid for a job that is queued");
    expect((await world.jobOf(runId)).state).to.equal("running");
  });

  it("survives any garbage in a mailbox", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    await kernel.receive(SHARD, [
      { rootId: "run_UNKNOWN", to: null, message: null },
      { rootId: runId, to: { kind: "job", id: "job_UNKNOWN" }, message: 7 },
      { rootId: runId, to: { kind: "run", id: runId }, message: null },
      { rootId: runId, to: { kind: "pipeline", id: runId }, message: { type: "start" } },
    ]);
    expect(await stores.deadLetters.count()).to.equal(3);
    expect((await world.runOf(runId)).state).to.equal("running");
  });

  describe("watching agents", () => {
    async function running(): Promise<RunId> {
      const base = planOf([[{ leaseMs: 100 }]]);
      await kernel.open(SHARD, 1);
      const runId = await world.trigger(base);
      await ring(runId);
      await kernel.receive(SHARD, [claimOf(runId)]);
      return runId;
    }

    it("makes a new attempt of a job whose agent is silent for longer than its lease", async () => {
      world.presence.set(KERNEL_AGENT, { bootId: "boot-1", beat: "1" });
      const runId = await running();
      await until("the first attempt has failed", async () => (await world.jobOf(runId)).state === "failed");
      expect((await world.jobOf(runId)).reason).to.equal("agent_lost");
      expect((await world.jobOf(runId, 0, 2)).state).to.equal("queued");
    });

    it("leaves a job alone while the beats of its agent change", async () => {
      let beat = 0;
      const beating = setInterval(
        () => world.presence.set(KERNEL_AGENT, { bootId: "boot-1", beat: String(++beat) }),
        15,
      );
      const runId = await running();
      const beats = 30;
      await until("time passes", () => beat > beats, 5_000);
      clearInterval(beating);
      expect((await world.jobOf(runId)).state).to.equal("running");
    });

    it("counts no silence while presence cannot be read", async () => {
      world.presenceReadable = false;
      const runId = await running();
      const since = performance.now();
      await until("more than the lease passes", () => performance.now() - since > 400);
      expect((await world.jobOf(runId)).state).to.equal("running");
      world.presenceReadable = true;
      await until("the first attempt has failed", async () => (await world.jobOf(runId)).state === "failed");
    });

    it("watches agents of jobs that were bound before it became the owner", async () => {
      const runId = await running();
      await kernel.drain(SHARD);
      kernel.close(SHARD, 1);
      await kernel.open(SHARD, 1);
      await until("the first attempt has failed", async () => (await world.jobOf(runId)).state === "failed");
    });
  });

  it("owes nothing and keeps no aggregate in memory after it has drained a shard", async () => {
    await kernel.open(SHARD, 1);
    const runs = await Promise.all(Array.from({ length: 20 }, () => world.trigger()));
    await Promise.all(runs.map(ring));
    await kernel.drain(SHARD);
    kernel.close(SHARD, 1);
    expect(await stores.aggregates.pageOwing(SHARD, "", 100)).to.deep.equal([]);
    expect(kernel.counters.activations).to.equal(0);
  });

  it("keeps the state of a step when its agent sends a report that means nothing", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await ring(runId);
    await kernel.receive(SHARD, [claimOf(runId), reportOf(runId, "nonsense")]);
    const step = await world.stateOf<StepState>(runId, stepRunId(runId, jobRunId(runId, 0, 1), 0, 1));
    expect(step.state).to.equal("queued");
  });
});
