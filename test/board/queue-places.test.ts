import { expect } from "chai";
import type { Redis } from "ioredis";
import { QueuePlaces, type QueuedJob } from "../../src/board/queue-places.ts";
import { type OfferBroadcast, RedisBoard } from "../../src/board/redis-board.ts";
import { systemClock } from "../../src/domain/clock.ts";
import type { Offer } from "../../src/domain/effects.ts";
import type { JobRunId } from "../../src/domain/ids.ts";
import { NO_QUOTAS } from "../../src/domain/quotas.ts";
import { job, needs, offerOf, project } from "../contracts/board.ts";
import { withTestRedis } from "../support/redis.ts";

const LINUX = { labels: { os: "linux" } };
const HOLD_MS = 60_000;
const SILENT: OfferBroadcast = {
  messageOf: (channel) => [channel, ""],
  subscribe: () => Promise.resolve(() => Promise.resolve()),
};

describe("the place of a job in the queue", () => {
  let redis: Redis;
  let board: RedisBoard;

  withTestRedis((opened) => void (redis = opened));
  beforeEach(() => {
    board = new RedisBoard({ redis, feed: SILENT, clock: systemClock });
  });

  const asked = ({ jobId, projectId, priority, selector, queuedAt }: Offer): QueuedJob => {
    return { jobId, projectId, priority, selector, queuedAt };
  };
  /** As a client sees it that has not looked before. */
  const placesOf = async (offers: readonly Offer[], agents = [LINUX]): Promise<ReadonlyMap<JobRunId, number>> =>
    new QueuePlaces(redis, systemClock).placesOf(offers.map(asked), agents);

  it("is the number of offers that an agent takes before it, whatever projects and priorities wait", async () => {
    // Numbers that look random and are the same each time.
    let seed = 17;
    const draw = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 12; round++) {
      await redis.flushall();
      board = new RedisBoard({ redis, feed: SILENT, clock: systemClock });
      // Some projects were served before, in some order.
      for (let n = 0; n < 3; n++) {
        await board.offer(offerOf(`early${round}.${n}`, { projectId: project(`p${draw(4)}`) }));
        await board.take(LINUX, HOLD_MS, 1);
      }
      const offers = Array.from({ length: 25 }, (_, n) =>
        offerOf(`job${round}.${n}`, {
          projectId: project(`p${draw(4)}`),
          priority: draw(3) - 1,
          queuedAt: 1_000 + n,
          ...(draw(2) === 0 && { selector: needs("os", "linux") }),
        }),
      );
      for (const offer of offers) await board.offer(offer);
      await board.offer(offerOf(`other${round}`, { priority: 9, selector: needs("os", "mac") }));
      const places = await placesOf(offers);
      const order = (await board.take(LINUX, HOLD_MS, 100)).map(({ jobId }) => jobId);
      expect(order.map((jobId) => places.get(jobId))).to.deep.equal(order.map((_, at) => at));
    }
  });

  it("is 0 for an offer that a gateway has taken, and not told of a job without an offer or without an agent", async () => {
    const [taken, mac, gone] = [offerOf("taken"), offerOf("mac", { selector: needs("os", "mac") }), offerOf("gone")];
    await board.offer(taken);
    await board.take(LINUX, HOLD_MS, 1);
    await board.offer(offerOf("next", { queuedAt: 7 }));
    await board.offer(mac);
    const places = await placesOf([taken, mac, gone]);
    expect([...places]).to.deep.equal([[job("taken"), 0]]);
  });

  it("counts only offers that agents of the job could take, each kind of agent once", async () => {
    await board.offer(offerOf("gpu", { selector: needs("gpu", "yes"), queuedAt: 1 }));
    const plain = offerOf("plain", { queuedAt: 2 });
    await board.offer(plain);
    expect((await placesOf([plain])).get(plain.jobId)).to.equal(0);
    const both = [LINUX, LINUX, { labels: { os: "linux", gpu: "yes" } }];
    expect((await placesOf([plain], both)).get(plain.jobId)).to.equal(1);
  });

  it("costs no more with 20,000 offers, and is not told while there are more lanes than it reads", async () => {
    const offers = Array.from({ length: 20_000 }, (_, n) => offerOf(`job${n}`, { queuedAt: n }));
    await board.offer(offers[0]!);
    const [[laneId, lane] = []] = Object.entries(await redis.hgetall("{board}:lanes"));
    // As the offers stand there; 20,000 calls would take seconds.
    for (let at = 0; at < offers.length; at += 2_000) {
      const some = offers.slice(at, at + 2_000);
      await redis.hset("{board}:offers", ...some.flatMap((offer) => [offer.jobId, laneId! + JSON.stringify(offer)]));
      await redis.zadd(`{board}:lane:${laneId}`, ...some.flatMap(({ queuedAt, jobId }) => [queuedAt, jobId]));
    }
    await redis.config("RESETSTAT");
    const chosen = [offers[3]!, offers.at(-1)!];
    expect([...(await placesOf(chosen)).values()]).to.deep.equal([3, 19_999]);
    const usec = /cmdstat_eval:calls=\d+,usec=(\d+)/.exec(await redis.info("commandstats"));
    expect(Number(usec?.[1] ?? 0)).to.be.lessThan(20_000);
    const many = Array.from({ length: 2_000 }, (_, n) => [`lane${n}`, lane!]).flat();
    await redis.hset("{board}:lanes", ...many);
    expect((await placesOf(chosen)).size).to.equal(0);
  });

  it("is read once for many who ask within a second", async () => {
    let now = 0;
    const view = new QueuePlaces(redis, { monotonic: () => now });
    const last = offerOf("last", { queuedAt: 9 });
    await board.offer(last);
    const look = async () => (await view.placesOf([asked(last)], [LINUX])).get(last.jobId);
    expect(await look()).to.equal(0);
    await board.offer(offerOf("urgent", { priority: 5 }));
    now = 999;
    expect(await look()).to.equal(0);
    now = 1_000;
    expect(await look()).to.equal(1);
  });

  it("names the jobs that have places in a quota, some of many, and none whose place has expired", async () => {
    const quotas = { ...NO_QUOTAS, everyProject: 9 };
    board = new RedisBoard({ redis, feed: SILENT, clock: systemClock, quotas });
    for (const id of ["a", "b", "c"]) await board.occupy([{ jobId: job(id), quotas: ["project:default"] }]);
    await redis.zadd("{board}:quota:project:default", 1, "expired");
    const view = new QueuePlaces(redis, systemClock);
    expect(await view.holdersOf("project:default", 10)).to.have.members(["a", "b", "c"]);
    expect(await view.holdersOf("project:default", 2)).to.have.length(2);
    expect(await view.holdersOf("project:other", 2)).to.deep.equal([]);
  });
});
