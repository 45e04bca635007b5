import { expect } from "chai";
import { Redis } from "ioredis";
import { RedisPresence } from "../../src/board/redis-presence.ts";
import { AGENT_A as A, AGENT_B as B, presenceContract, recordOf } from "../contracts/presence.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describe("presence on Redis", () => {
  let server: TestRedis;
  let redis: Redis;
  let presence: RedisPresence;

  before(async () => {
    server = await startTestRedis();
    redis = new Redis(server.connection);
    presence = new RedisPresence(redis);
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(() => redis.flushall());

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
