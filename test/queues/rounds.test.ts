/** Tests of the rounds of an owner: what it does in them, and when the next one follows. Over a real Redis. */
import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { OwnershipGuard } from "../../queues/ownership-guard.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { ring } from "../../queues/wake-key.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { until } from "../support/until.ts";
import { idleHandler, type OwnerGround, withOwnerGround } from "./owner-ground.ts";

const SHARDS = 8;
const MEMBERS = "{millrace}:members";

describe("the rounds of an owner", function () {
  this.timeout(30_000);
  let ground: OwnerGround;
  let owners: ShardOwner[];

  withOwnerGround(
    (opened) => {
      ground = opened;
      owners = [];
    },
    async () => void (await Promise.all(owners.map((owner) => owner.stop()))),
  );

  async function own(guard?: OwnershipGuard): Promise<{ readonly owner: ShardOwner; readonly nodeId: string }> {
    const nodeId = randomUUID();
    const owner = new ShardOwner({
      witness: "{elsewhere}:generation",
      redis: { url: ground.redis.url },
      nodeId,
      shards: SHARDS,
      handler: idleHandler,
      epochs: ground.stores.shards,
      ...(guard === undefined ? {} : { guard }),
      log: silentLog,
    });
    owners.push(owner);
    await owner.start();
    await until("it owns all", () => owner.owned().length === SHARDS);
    return { owner, nodeId };
  }

  it("do not join the members again when the node leaves during one", async () => {
    let release = (): void => undefined;
    let isHeld = false;
    let isWaiting = false;
    const guard: OwnershipGuard = {
      bar: null,
      reason: null,
      isUncertain: false,
      async check() {
        if (!isHeld) return;
        isWaiting = true;
        await new Promise<void>((resolve) => (release = resolve));
      },
    };
    const { owner, nodeId } = await own(guard);
    isHeld = true;
    await until("a round waits for its guard", () => isWaiting);
    const stopping = owner.stop();
    await until("it has left", async () => (await ground.client.zscore(MEMBERS, nodeId)) === null);
    release();
    await stopping;
    expect(await ground.client.zscore(MEMBERS, nodeId)).to.equal(null);
  });

  it("take the shards of a silent member when it counts as gone, not in the next round by the clock", async () => {
    const { owner, nodeId } = await own();
    // A quarter of a second after its last beat, another member is found in a round, and is silent from then on.
    const [seconds, microseconds] = await ground.client.time();
    const beatAt = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000) - 250;
    await ground.client.zadd(MEMBERS, beatAt, "a-node-that-is-silent");
    await ring(ground.client, nodeId, "members");
    await until("it gives half of the shards up", () => owner.owned().length === SHARDS / 2);
    const since = performance.now();
    await until("it owns all again", () => owner.owned().length === SHARDS);
    expect(performance.now() - since).to.be.within(2_250, 3_100);
  });
});
