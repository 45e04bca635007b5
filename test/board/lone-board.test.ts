import { expect } from "chai";
import type { Redis } from "ioredis";
import type { Board, Reservation, Vacancies } from "../../src/board/board.ts";
import { LoneBoard } from "../../src/board/lone-board.ts";
import { type OfferBroadcast, RedisBoard } from "../../src/board/redis-board.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";
import type { LabelledAgent } from "../../src/domain/labels.ts";
import { NO_QUOTAS, type Quotas } from "../../src/domain/quotas.ts";
import { boardContract, type BoardHarness, needs, offerOf } from "../contracts/board.ts";
import { vacancyContract } from "../contracts/vacancies.ts";
import { withTestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const LINUX: LabelledAgent = { labels: { os: "linux" } };
const HOLD_MS = 60_000;
const A = asId<AgentId>("agt_a");

describe("the board of a node that is alone", () => {
  let redis: Redis;
  let isAlone: boolean;
  let now: () => number;
  let board: LoneBoard;
  let stop: () => Promise<void>;

  withTestRedis((opened) => void (redis = opened));
  beforeEach(async () => {
    isAlone = true;
    now = () => systemClock.monotonic();
    board = loneBoard();
    stop = await board.onOffered(() => {});
  });
  afterEach(() => stop());

  function loneBoard(quotas?: Quotas): LoneBoard {
    return new LoneBoard({
      shared: sharedBoard(quotas),
      isAlone: () => isAlone,
      clock: { monotonic: () => now() },
      quotas: () => quotas ?? NO_QUOTAS,
    });
  }
  function sharedBoard(quotas: Quotas = NO_QUOTAS): RedisBoard {
    return new RedisBoard({ redis, feed: broadcast(), clock: systemClock, quotas });
  }
  function show(requestIds: readonly string[], more: Partial<Vacancies> = {}, to: Board = board, count?: number) {
    const shown = { agentId: A, bootId: "boot", attendanceId: "gateway", streamId: "s", seen: [], areShown: false };
    return to.take(LINUX, HOLD_MS, count ?? requestIds.length, { ...shown, requestIds, ...more });
  }
  const idOf = (reservation: Reservation | undefined): string | undefined => reservation?.requestId;
  let jobs = 0;
  const reserve = async (from: Board = board) => idOf(await from.reserve(offerOf(`job ${++jobs}`)));
  /** How many scripts Redis has run since its statistics were reset. */
  async function scripts(): Promise<number> {
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info("commandstats"))?.[1] ?? 0);
  }

  const harness: BoardHarness = {
    // The vacancies are in one object. With quotas they are in Redis.
    open: (quotas) => (quotas === undefined ? board : loneBoard(quotas)),
    later: (what, look) => until(what, look),
  };
  boardContract(harness);
  describe("with vacancies", () => vacancyContract(harness));

  describe("once its gateway attends", () => {
    beforeEach(async () => void (await board.attend("gateway", true)));

    it("asks Redis nothing while slots are taken and are free again", async () => {
      await show(["r0"]);
      await redis.config("RESETSTAT");
      for (let at = 0; at < 20; at++) {
        expect(await reserve()).to.equal(`r${at}`);
        await show([`r${at + 1}`], { seen: [`r${at}`] });
      }
      expect(await scripts()).to.equal(0);
    });

    it("gives a slot to an offer that was announced while it was taken", async () => {
      await show(["r0"]);
      await reserve();
      await board.offer(offerOf("waits"));
      const [offer] = await show(["r1"], { seen: ["r0"] });
      expect(offer).to.deep.include({ jobId: "waits", vacancy: "r1" });
    });

    it("lets a run wait for what Redis says about the offers, and gives it what they leave", async () => {
      await board.offer(offerOf("waits"));
      await show([]);
      const showing = show(["r1", "r2"]);
      expect(await Promise.all([reserve(), reserve()])).to.deep.equal(["r2", undefined]);
      expect((await showing).map(({ jobId }) => jobId)).to.deep.equal(["waits"]);
    });

    it("finds an offer that came back without an announcement, once its gateway attends again", async () => {
      await board.offer(offerOf("comes back"));
      await show(["r0"], {}, board, 0);
      await sharedBoard().take(LINUX, 50, 1);
      await show(["r0"]);
      expect(await reserve()).to.equal("r0");
      const found = await until("the offer is back", async () => {
        await board.attend("gateway");
        const [offer] = await show(["r1"], { seen: ["r0"] });
        return offer;
      });
      expect(found.jobId).to.equal("comes back");
    });

    it("reserves nothing of an agent for which an offer waits, and a slot of another one", async () => {
      await show(["r0"]);
      const other = { agentId: asId<AgentId>("agt_b"), requestIds: ["b0"], bootId: "b", attendanceId: "gateway" };
      const gpu = { labels: { os: "linux", gpu: "yes" } };
      await board.take(gpu, HOLD_MS, 1, { ...other, streamId: "s", seen: [], areShown: false });
      await board.offer(offerOf("gpu", { selector: needs("gpu", "yes") }));
      expect([await reserve(), await reserve()]).to.deep.equal(["r0", undefined]);
    });

    it("keeps its slots to itself, and shows them to others once another node lives", async () => {
      const other = sharedBoard();
      await show(["r0"]);
      expect(await reserve(other)).to.equal(undefined);
      isAlone = false;
      expect((await board.attend("gateway")).lasts).to.equal(false);
      expect((await board.attend("next", true)).lasts).to.equal(true);
      expect(await reserve(), "not shown again yet").to.equal(undefined);
      await show(["r1", "r2"], { attendanceId: "next" });
      expect([await reserve(sharedBoard()), await reserve(loneBoard())]).to.deep.equal(["r1", "r2"]);
    });

    it("takes its slots back when it is alone again", async () => {
      isAlone = false;
      await board.attend("next", true);
      await show(["r0"], { attendanceId: "next" });
      isAlone = true;
      expect((await board.attend("next")).lasts).to.equal(false);
      await board.attend("last", true);
      await show(["r1"], { attendanceId: "last" });
      expect(await reserve(sharedBoard())).to.equal(undefined);
      expect(await reserve()).to.equal("r1");
    });

    for (const first of [true, false]) {
      it(`shows no slot that was reserved while it was ${first ? "alone" : "one of several"}, until the reservation ends`, async () => {
        isAlone = first;
        await board.attend("first", true);
        await show(["r0", "r1"], { attendanceId: "first" });
        expect(await reserve()).to.equal("r0");
        isAlone = !first;
        await board.attend("second", true);
        await show(["r2", "r3"], { attendanceId: "second" });
        expect([await reserve(), await reserve()]).to.deep.equal(["r2", undefined]);
        await show(["r4", "r5"], { attendanceId: "second", seen: ["r0", "r2"] });
        // Another edge: one that has found nothing does not search again at once.
        const next = (): Promise<string | undefined> => reserve(isAlone ? board : loneBoard());
        expect([await next(), await next()]).to.deep.equal(["r4", "r5"]);
      });
    }

    it("reserves none of its slots while it does not know that it is alone", async () => {
      await show(["r0"]);
      isAlone = false;
      expect(await reserve()).to.equal(undefined);
      isAlone = true;
      expect(await reserve()).to.equal("r0");
    });

    it("removes slots from both boards when their stream ends", async () => {
      isAlone = false;
      await board.attend("first", true);
      await show(["r0"], { attendanceId: "first" });
      await board.hide(A, "s");
      expect(await reserve(sharedBoard())).to.equal(undefined);
      isAlone = true;
      await board.attend("second", true);
      await show(["r1"], { attendanceId: "second" });
      await board.hide(A, "other");
      await board.hide(A, "s");
      expect(await reserve()).to.equal(undefined);
    });

    it("forgets no reservation of an agent whose labels have changed", async () => {
      await show(["r0", "r1"]);
      await reserve();
      const shown = { agentId: A, bootId: "boot", attendanceId: "gateway", streamId: "s", seen: [], areShown: false };
      await board.take({ labels: { os: "mac" } }, HOLD_MS, 2, { ...shown, requestIds: ["r0", "r1"] });
      expect([await reserve(), await reserve()]).to.deep.equal(["r1", undefined]);
    });
  });

  function broadcast(): OfferBroadcast {
    return {
      messageOf: (channel, payload) => [channel, JSON.stringify(payload)],
      async subscribe(channel, listener) {
        const subscriber = redis.duplicate();
        await subscriber.subscribe(channel);
        subscriber.on("message", (_, text) => listener(JSON.parse(text)));
        return () => Promise.resolve(subscriber.disconnect());
      },
    };
  }
});
