import { expect } from "chai";
import type { Redis } from "ioredis";
import { RedisPresence } from "../../src/board/redis-presence.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";
import { AGENT_A as A, AGENT_B as B, presenceContract, recordOf } from "../contracts/presence.ts";
import { withTestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** How often Redis has run the command since its statistics were reset, also within scripts. */
async function callsOf(redis: Redis, command: string): Promise<number> {
  const stats = await redis.info("commandstats");
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, "m").exec(stats)?.[1] ?? 0);
}

describe("presence on Redis", () => {
  let redis: Redis;
  let presence: RedisPresence;

  withTestRedis((opened) => {
    redis = opened;
    presence = new RedisPresence(redis);
  });

  presenceContract({ open: () => presence, later: (what, look) => until(what, look) });

  it("changes the beat with each call, also after Redis was emptied", async () => {
    const beats = new Set<string>();
    for (let n = 0; n < 20; n++) {
      if (n === 10) await redis.flushall();
      await presence.beat(recordOf(A));
      beats.add((await presence.read([A])).get(A)!.beat);
    }
    expect(beats).to.have.length(20);
  });

  it("reads as many records of two idle agents as of two hundred: none that it has read before", async () => {
    const reads: number[] = [];
    for (const count of [2, 200]) {
      const beatAll = () =>
        Promise.all(Array.from({ length: count }, (_, at) => presence.beat(recordOf(asId<AgentId>(`agt_${at}`)))));
      await beatAll();
      expect(await presence.online(30_000)).to.have.length(count);
      await beatAll();
      await redis.config("RESETSTAT");
      expect(await presence.online(30_000)).to.have.length(count);
      reads.push(await callsOf(redis, "hget"));
    }
    expect(reads).to.deep.equal([0, 0]);
  });

  it("reads the records again after a change, an end, a silence and a return", async () => {
    const busyOf = async () =>
      (await presence.online(30_000)).map(({ agentId, busy }) => `${agentId} ${busy}`).toSorted();
    const age = async (agentId: AgentId, ms: number): Promise<void> =>
      void (await redis.zadd("{presence}:times", Date.now() - ms, agentId));
    await presence.beat(recordOf(A));
    await presence.beat(recordOf(B));
    expect(await busyOf()).to.deep.equal(["agt_A 0", "agt_B 0"]);
    await presence.beat(recordOf(A, { busy: 1 }));
    expect(await busyOf()).to.deep.equal(["agt_A 1", "agt_B 0"]);
    await age(B, 31_000);
    expect(await busyOf()).to.deep.equal(["agt_A 1"]);
    // As many as before, and others.
    await age(A, 31_000);
    await presence.beat(recordOf(B));
    expect(await busyOf()).to.deep.equal(["agt_B 0"]);
    await presence.leave(B, recordOf(B).bootId);
    await presence.beat(recordOf(A));
    expect(await busyOf()).to.deep.equal(["agt_A 0"]);
    await redis.flushall();
    await presence.beat(recordOf(B));
    expect(await busyOf()).to.deep.equal(["agt_B 0"]);
  });

  it("lists agents that were declared lost, until their next beat or for a day", async () => {
    expect(await presence.lost()).to.deep.equal([]);
    await presence.beat(recordOf(A));
    await presence.declareLost(A, "boot-1");
    await presence.declareLost(B, "boot-1");
    await presence.declareLost(B, "boot-1");
    expect(await presence.lost()).to.have.members([A, B]);
    await presence.beat(recordOf(A));
    expect(await presence.lost()).to.deep.equal([B]);
    await redis.zadd("{presence}:lost", Date.now() - 25 * 3_600_000, B);
    expect(await presence.lost()).to.deep.equal([]);
  });

  it("removes records of agents that have been silent for a long time", async () => {
    await presence.beat(recordOf(A));
    await presence.beat(recordOf(B));
    await redis.zadd("{presence}:times", 1, A);
    expect((await presence.online(60_000)).map((record) => record.agentId)).to.deep.equal([B]);
    expect([...(await presence.read([A, B])).keys()]).to.deep.equal([B]);
  });
});
