/** Owners of shards whose clock or whose way to the store fails while they reach Redis: over a real Redis. */
import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { ClockCheck } from "../../queues/clock-check.ts";
import { ownershipGuard } from "../../queues/ownership-guard.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { StoreReach } from "../../queues/store-reach.ts";
import type { Clock } from "../../src/domain/clock.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { until } from "../support/until.ts";
import { idleHandler, type OwnerGround, withOwnerGround } from "./owner-ground.ts";

const SHARDS = 4;
const HOUR = 3_600_000;

/** A worker whose clock and whose store a test disturbs. */
interface Worker {
  readonly owner: ShardOwner;
  readonly check: ClockCheck;
  readonly guard: ReturnType<typeof ownershipGuard>;
  /** Added to the time of the machine. */
  aheadMs: number;
  /** `hangs`: calls to the store have no answer until it is changed. */
  store: "answers" | "hangs" | "fails";
  readonly drained: number[];
}

describe("a worker that may own no shard", function () {
  this.timeout(30_000);
  let ground: OwnerGround;
  let workers: Worker[];

  withOwnerGround(
    (opened) => {
      ground = opened;
      workers = [];
    },
    async () => {
      for (const worker of workers) {
        worker.store = "answers";
        await worker.owner.stop();
        await worker.check.stop();
      }
    },
  );

  async function start(aheadMs = 0): Promise<Worker> {
    const nodeId = randomUUID();
    const drained: number[] = [];
    const clock: Clock = { now: () => Date.now() + worker.aheadMs, monotonic: () => performance.now() };
    const check = new ClockCheck({ redis: ground.client, nodeId, clock, log: silentLog });
    const probe = async (): Promise<void> => {
      await until("the store answers", () => worker.store !== "hangs", 30_000);
      if (worker.store === "fails") throw new Error("the store cannot be reached");
      await ground.stores.probe();
    };
    const guard = ownershipGuard(new StoreReach({ redis: ground.client, nodeId, probe, log: silentLog }), check);
    const owner = new ShardOwner({
      witness: "{elsewhere}:generation",
      redis: { url: ground.redis.url },
      nodeId,
      shards: SHARDS,
      handler: {
        ...idleHandler,
        // As when the store has no answer: a worker that waited for this would keep its shards.
        drain: (shard) => {
          drained.push(shard);
          return worker.store === "answers" ? Promise.resolve() : new Promise(() => undefined);
        },
      },
      epochs: ground.stores.shards,
      guard,
      log: silentLog,
    });
    const worker: Worker = { owner, check, guard, aheadMs, store: "answers", drained };
    workers.push(worker);
    await check.start();
    await owner.start();
    return worker;
  }

  const owns = (worker: Worker, count: number) => () => worker.owner.owned().length === count;
  const share = (...all: readonly Worker[]) =>
    until("they share the shards", () => all.every((worker) => owns(worker, SHARDS / all.length)()));

  for (const fault of ["hangs", "fails"] as const) {
    it(`gives its shards up when its store ${fault} and another's answers, without waiting for the store`, async () => {
      const [lonely, other] = [await start(), await start()];
      await share(lonely, other);
      lonely.drained.length = 0;
      lonely.store = fault;
      await until("the other owns all", owns(other, SHARDS), 10_000);
      expect(lonely.owner.owned()).to.deep.equal([]);
      expect(lonely.drained).to.deep.equal([]);
      expect(lonely.guard.bar).to.equal("store");
      expect(lonely.guard.reason).to.include("cannot reach the store");
      lonely.store = "answers";
      await share(lonely, other);
      expect(lonely.guard.bar).to.equal(null);
    });
  }

  it("keeps its shards when no worker reaches the store", async () => {
    const both = [await start(), await start()];
    await share(...both);
    const before = await ground.stores.shards.epochs();
    for (const worker of both) worker.store = "hangs";
    const since = performance.now();
    await until("5 s pass", () => {
      for (const worker of both) expect(worker.owner.owned()).to.have.length(SHARDS / 2);
      return performance.now() - since > 5_000;
    });
    expect(await ground.stores.shards.epochs()).to.deep.equal(before);
  });

  it("keeps its shards when another worker is answered first after an outage for all", async () => {
    const [late, first] = [await start(), await start()];
    await share(late, first);
    const before = await ground.stores.shards.epochs();
    const keepsFor = async (ms: number): Promise<void> => {
      const since = performance.now();
      await until(`${ms} ms pass`, () => {
        expect(late.owner.owned()).to.have.length(SHARDS / 2);
        expect(late.guard.bar).to.equal(null);
        return performance.now() - since > ms;
      });
    };
    for (const worker of [late, first]) worker.store = "hangs";
    await keepsFor(3_000);
    first.store = "answers";
    await until("the first worker is answered", () => !first.guard.isUncertain);
    await keepsFor(600);
    late.store = "answers";
    await until("the other worker is answered", () => !late.guard.isUncertain);
    expect(await ground.stores.shards.epochs()).to.deep.equal(before);
  });

  it("keeps its shards when it is alone, or beside a worker of a release that tells nothing about the store", async () => {
    const worker = await start();
    await until("it owns all", owns(worker, SHARDS));
    const older = new ShardOwner({
      witness: "{elsewhere}:generation",
      redis: { url: ground.redis.url },
      nodeId: randomUUID(),
      shards: SHARDS,
      handler: idleHandler,
      epochs: ground.stores.shards,
      log: silentLog,
    });
    await older.start();
    try {
      await until("they share", () => owns(worker, 2)() && older.owned().length === 2);
      worker.store = "fails";
      const since = performance.now();
      await until("3 s pass", () => performance.now() - since > 3_000);
      expect(worker.owner.owned()).to.have.length(2);
    } finally {
      await older.stop();
    }
  });

  it("owns nothing from the start with a clock an hour ahead, and its share once the clock is right", async () => {
    const right = await start();
    const wrong = await start(HOUR);
    await until("the right one owns all", owns(right, SHARDS));
    const since = performance.now();
    await until("2 s pass", () => performance.now() - since > 2_000);
    expect(wrong.owner.owned()).to.deep.equal([]);
    expect(right.check.reason).to.equal(null);
    expect(wrong.guard.bar).to.equal("clock");
    expect(wrong.guard.reason).to.match(/3600\.\d s ahead of the clocks of Redis/);
    wrong.aheadMs = 0;
    await share(right, wrong);
  });

  it("gives its shards up when its clock jumps, and does not act on the jump before", async () => {
    const [right, wrong] = [await start(), await start()];
    await share(right, wrong);
    wrong.aheadMs = HOUR;
    expect(wrong.check.clock.now(), "the time without the jump").to.be.closeTo(Date.now(), 2_000);
    expect(wrong.guard.bar, "at once").to.equal("clock");
    await until("the right one owns all", owns(right, SHARDS), 10_000);
    expect(wrong.check.clock.now(), "also later").to.be.closeTo(Date.now(), 2_000);
    wrong.aheadMs = -HOUR;
    await until("it is behind", () => wrong.guard.reason?.includes("behind"));
    wrong.aheadMs = 0;
    await share(right, wrong);
  });

  it("is warned only, and keeps its shards, with a clock 20 s ahead", async () => {
    const [right, off] = [await start(), await start()];
    await share(right, off);
    off.aheadMs = 20_000;
    await until("it warns", () => off.check.warning?.includes("20.0 s ahead"));
    expect(off.guard.bar).to.equal(null);
    expect(off.owner.owned()).to.have.length(SHARDS / 2);
    expect(right.check.warning).to.equal(null);
  });
});
