import { expect } from "chai";
import type { Kernel } from "../../../actors/kernel/kernel.ts";
import { RUNS_CHANNEL, runChannel } from "../../../src/feed/feed.ts";
import { performOwed } from "../../../actors/kernel/performer.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import type { RunEvent } from "../../../src/domain/events.ts";
import { jobRunId, type RunId } from "../../../src/domain/ids.ts";
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

const QUIET = { ...FAST_TIMING, sweepMs: 60_000 };

describe("the kernel, when a fault meets it at the wrong moment,", () => {
  let world: KernelWorld;
  let kernel: Kernel;

  beforeEach(async () => {
    world = await KernelWorld.open();
    kernel = world.kernel();
  });

  afterEach(() => world.close());

  /** Makes the next save reach the store and its answer get lost. */
  function loseNextAnswer(): void {
    const { aggregates } = world.stores;
    const { save } = aggregates;
    aggregates.save = async (change) => {
      aggregates.save = save;
      await save(change);
      throw new Error("the answer was lost");
    };
  }

  /** Performs what a run owes, as its creator does. */
  async function performAsCreator(runId: RunId): Promise<void> {
    const head = (await world.stores.aggregates.loadHead(runId))!;
    const { stores, ports } = world;
    const { board, feed, mailboxes } = ports;
    await performOwed({ stores, board, feed, mailboxes, clock: systemClock, shards: 16 }, head, head.owed);
  }

  it("tells of a run's state only while a node follows all runs, and then what is saved", async () => {
    await kernel.open(SHARD, 1);
    const { followed, published } = world.ports;
    const hints = () => published.filter(({ channel }) => channel === RUNS_CHANNEL).map(({ payload }) => payload);
    await kernel.receive(SHARD, [doorbell(await world.trigger(planOf([[{}]])))]);
    expect(hints()).to.deep.equal([]);
    followed.add(RUNS_CHANNEL);
    const runId = await world.trigger(planOf([[{}]]));
    await kernel.receive(SHARD, [doorbell(runId)]);
    const { version, eventNumber, summary } = (await world.stores.aggregates.loadHead(runId))!;
    const { pipelineId, projectId, status, bound, waits } = summary;
    expect(hints().at(-1)).to.deep.equal({ runId, pipelineId, projectId, status, bound, waits, version, eventNumber });
  });

  it("publishes the events of a run only while a node follows it", async () => {
    await kernel.open(SHARD, 1);
    const { followed, published } = world.ports;
    const unseen = await world.trigger(planOf([[{}]]));
    const seen = await world.trigger(planOf([[{}]]));
    followed.add(runChannel(seen));
    await kernel.receive(SHARD, [doorbell(unseen), doorbell(seen)]);
    const { eventNumber } = (await world.stores.aggregates.loadHead(seen))!;
    const numbers = published.map(({ channel, payload }) => [channel, (payload as RunEvent).number]);
    expect(numbers).to.deep.include([runChannel(seen), eventNumber]);
    expect(new Set(numbers.map(([channel]) => channel))).to.deep.equal(new Set([runChannel(seen)]));
  });

  it("watches the agent of a job whose grant was saved without an answer", async () => {
    world.presence.set(KERNEL_AGENT, { bootId: "boot-1", beat: "1" });
    await kernel.open(SHARD, 1);
    const runId = await world.trigger(planOf([[{ leaseMs: 100 }]]));
    await kernel.receive(SHARD, [doorbell(runId)]);
    loseNextAnswer();
    await kernel.receive(SHARD, [claimOf(runId)]);
    await until("the silent agent is lost", async () => (await world.jobOf(runId)).reason === "agent_lost");
  });

  it("stops to watch the agent of a job whose end was saved without an answer", async () => {
    await kernel.open(SHARD, 1);
    const runId = await world.trigger();
    await kernel.receive(SHARD, [doorbell(runId), claimOf(runId)]);
    loseNextAnswer();
    await kernel.receive(SHARD, [reportOf(runId, "succeeded")]);
    await until("the run is settled", async () => (await world.stores.aggregates.loadHead(runId))!.settled);
    await until("presence is read no more", async () => {
      const before = world.presenceReads;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return world.presenceReads === before;
    });
  });

  describe("after Redis was emptied,", () => {
    let broken: RunId;
    let isBroken: boolean;

    beforeEach(async () => {
      await kernel.open(SHARD, 1);
      broken = await world.trigger();
      await kernel.receive(SHARD, [doorbell(broken)]);
      await until("it has left the memory", () => kernel.counters.activations === 0);
      isBroken = true;
      const { plans } = world.stores;
      const loadPlan = plans.loadPlan.bind(plans);
      plans.loadPlan = (runId) => {
        return isBroken && runId === broken ? Promise.reject(new Error("the store is away")) : loadPlan(runId);
      };
      world.ports.offers.clear();
    });

    it("is not done while an aggregate is parked, and tells the others meanwhile", async () => {
      const other = await world.trigger();
      let isDone = false;
      const told = kernel.redisLost(SHARD).then(() => (isDone = true));
      await until("the other run is offered", () => world.ports.offers.has(jobRunId(other, 0, 1)));
      await until("the broken run was parked twice", () => kernel.counters.faults >= 2);
      expect(isDone).to.equal(false);
      isBroken = false;
      await told;
      expect(world.ports.offers.has(jobRunId(broken, 0, 1))).to.equal(true);
    });

    it("tells the offers of a run that an agent takes up meanwhile", async () => {
      isBroken = false;
      const run = await world.trigger(planOf([[{}, {}]]));
      await kernel.receive(SHARD, [doorbell(run)]);
      const { aggregates } = world.stores;
      const pageUnsettled = aggregates.pageUnsettled.bind(aggregates);
      aggregates.pageUnsettled = async (shard, bound, ...page) => {
        // The run has become bound between the list of the bound ones and the list of the others.
        if (!bound) await kernel.receive(SHARD, [claimOf(run)]);
        return pageUnsettled(shard, bound, ...page);
      };
      world.ports.offers.clear();
      await kernel.redisLost(SHARD);
      expect([...world.ports.offers.keys()]).to.include(jobRunId(run, 1, 1));
    });

    it("reports failure when the shard is handed over before a parked aggregate was told", async () => {
      const told = kernel.redisLost(SHARD).then(
        () => "done",
        () => "failed",
      );
      await until("the broken run is parked", () => kernel.counters.faults >= 1);
      await kernel.drain(SHARD);
      kernel.close(SHARD, 1);
      expect(await told).to.equal("failed");
    });
  });

  it("keeps a shard open whose former ownership finishes opening too late", async () => {
    const { aggregates } = world.stores;
    const pageBoundJobs = aggregates.pageBoundJobs.bind(aggregates);
    let answer: (() => void) | undefined;
    aggregates.pageBoundJobs = async (...args) => {
      aggregates.pageBoundJobs = pageBoundJobs;
      await new Promise<void>((resolve) => (answer = resolve));
      return pageBoundJobs(...args);
    };
    const late = kernel.open(SHARD, 1).then(
      () => "opened",
      () => "refused",
    );
    await until("the first one is opening", () => answer !== undefined);
    await kernel.open(SHARD, 2);
    const runId = await world.trigger();
    answer!();
    expect(await late).to.equal("refused");
    kernel.close(SHARD, 1);
    await kernel.receive(SHARD, [doorbell(runId)]);
    expect(world.ports.offers.size).to.equal(1);
    expect(await kernel.open(SHARD, 1).catch(String)).to.match(/later epoch/);
  });

  describe("with the creator of a run", () => {
    const GRACE_MS = 150;

    beforeEach(async () => {
      kernel = world.kernel({ ...FAST_TIMING, creatorMs: GRACE_MS });
      await kernel.open(SHARD, 1);
    });

    const hasLeftMemory = (runId: RunId) => async () => {
      const head = (await world.stores.aggregates.loadHead(runId))!;
      return head.owed.length === 0 && kernel.counters.activations === 0;
    };

    it("makes no offer again for a job that was granted within the grace", async () => {
      const runId = await world.triggerBegun(planOf([[{}]]));
      await performAsCreator(runId);
      await kernel.receive(SHARD, [claimOf(runId)]);
      await until("it owes nothing and is idle", hasLeftMemory(runId));
      expect(world.ports.offered).to.have.length(1);
      expect(world.ports.offers.size).to.equal(0);
    });

    it("performs nothing again for a run that still waits after the grace", async () => {
      const runId = await world.triggerBegun(planOf([[{ queueTimeoutMs: 60_000 }, {}]]));
      world.ports.followed.add(runChannel(runId));
      await performAsCreator(runId);
      const published = world.ports.published.length;
      expect(published).to.be.above(0);
      await until("it owes nothing and is idle", hasLeftMemory(runId));
      expect(world.ports.offered).to.have.length(2);
      expect(world.ports.scheduled).to.have.length(1);
      expect(world.ports.published).to.have.length(published);
    });

    it("makes the offers that its creator has not made", async () => {
      const runId = await world.triggerBegun(planOf([[{}, {}]]));
      await performAsCreator(runId);
      const lost = jobRunId(runId, 1, 1);
      world.ports.offers.delete(lost);
      await until("the missing offer is made", () => world.ports.offers.has(lost));
      expect(world.ports.offered.slice(2)).to.deep.equal([lost]);
    });

    it("makes no offer for a granted job when the first owner has died within the grace", async () => {
      const first = world.kernel({ ...QUIET, creatorMs: 60_000 });
      kernel.close(SHARD, 1);
      await first.open(SHARD, 2);
      const runId = await world.triggerBegun(planOf([[{}]]));
      await performAsCreator(runId);
      await first.receive(SHARD, [claimOf(runId)]);
      first.close(SHARD, 2);
      await kernel.open(SHARD, 3);
      await until("it owes nothing and is idle", hasLeftMemory(runId));
      expect(world.ports.offered).to.have.length(1);
    });
  });

  it("performs nothing from a state that another owner has saved since", async () => {
    const zombie = world.kernel(QUIET);
    const owner = world.kernel(QUIET);
    await zombie.open(SHARD, 1);
    const runId = await world.trigger();
    await zombie.receive(SHARD, [doorbell(runId)]);
    await world.command(runId, "pause");
    await zombie.receive(SHARD, [doorbell(runId)]);
    expect(world.ports.offers.size).to.equal(0);
    await owner.open(SHARD, 2);
    await world.command(runId, "resume");
    await owner.receive(SHARD, [doorbell(runId)]);
    expect(world.ports.offers.size).to.equal(1);
    // Another claim than the one that a grant would answer: the paused job refuses it and has its offer withdrawn.
    await zombie.receive(SHARD, [{ ...claimOf(runId), to: { kind: "job", id: jobRunId(runId, 0, 1) } }]);
    expect(zombie.counters.conflicts).to.equal(1);
  });
});
