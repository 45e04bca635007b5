/** Tests of an owner that shares its Redis with no other process. Over a real Redis. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { leaseKeys } from "../../queues/owned-shard.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { until } from "../support/until.ts";
import { idleHandler, type OwnerGround, withOwnerGround } from "./owner-ground.ts";

const SHARDS = 8;
const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);

describe("an owner on a private Redis", function () {
  this.timeout(30_000);
  let ground: OwnerGround;
  let owner: ShardOwner;
  let lost: number[];
  let closed: number[];

  withOwnerGround(
    (opened) => {
      ground = opened;
      [lost, closed] = [[], []];
      owner = new ShardOwner({
        witness: "{elsewhere}:generation",
        redis: { url: ground.redis.url },
        isPrivate: true,
        nodeId: randomUUID(),
        shards: SHARDS,
        handler: {
          ...idleHandler,
          redisLost: async (shard) => void lost.push(shard),
          close: (shard) => void closed.push(shard),
        },
        epochs: ground.stores.shards,
        log: silentLog,
      });
    },
    () => owner.stop(),
  );

  const ownsAll = () => until("it owns all", () => owner.owned().length === SHARDS, 2_000);
  const leasesLeftMs = () => Promise.all(ALL.map((shard) => ground.client.pttl(leaseKeys(shard).lease)));

  it("takes the leases of a process that has died, without waiting for their end", async () => {
    for (const shard of ALL) await ground.client.set(leaseKeys(shard).lease, "dead", "PX", 60_000);
    await owner.start();
    await ownsAll();
  });

  it("keeps its leases alive and gives them back at its end", async () => {
    await owner.start();
    await ownsAll();
    for (const end = performance.now() + 10_000; performance.now() < end; await sleep(500)) {
      expect(Math.min(...(await leasesLeftMs()))).to.be.above(6_000);
    }
    expect(closed).to.deep.equal([]);
    await owner.stop();
    expect(await leasesLeftMs()).to.deep.equal(ALL.map(() => -2));
  });

  it("makes the loss of everything in Redis good within 2 s", async () => {
    await owner.start();
    await ownsAll();
    await sleep(1_500);
    await ground.client.flushall();
    await until("it has told Redis everything", () => new Set(lost).size === SHARDS, 2_000);
    await ownsAll();
  });

  it("makes a restart of Redis good", async () => {
    await owner.start();
    await ownsAll();
    await ground.redis.kill();
    await ground.redis.restart();
    await until("it has told Redis everything", () => new Set(lost).size === SHARDS, 5_000);
    await ownsAll();
  });

  it("keeps no shard while Redis is away", async () => {
    await owner.start();
    await ownsAll();
    await ground.redis.kill();
    await until("it owns none", () => owner.owned().length === 0, 5_000);
    await ground.redis.restart();
    await until("it owns all again", () => owner.owned().length === SHARDS, 8_000);
  });
});
