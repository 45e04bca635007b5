import { expect } from "chai";
import type { Redis } from "ioredis";
import { type OfferBroadcast, RedisBoard, type RedisBoardOptions } from "../../src/board/redis-board.ts";
import { type Lane, PLACE_MS } from "../../src/board/board.ts";
import { agentWait } from "../../src/domain/agent-wait.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { ANY_AGENT, type Labels } from "../../src/domain/labels.ts";
import { NO_QUOTAS, type Quotas, type SetLimits } from "../../src/domain/quotas.ts";
import { type AgentId, asId, type TenantId } from "../../src/domain/ids.ts";
import { boardContract, type BoardHarness, job, needs, offerOf, project } from "../contracts/board.ts";
import { vacancyContract } from "../contracts/vacancies.ts";
import { withTestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const LINUX = { os: "linux" };
const HOLD_MS = 60_000;

describe("the board on Redis", () => {
  let redis: Redis;
  let board: RedisBoard;

  withTestRedis((opened) => void (redis = opened));
  beforeEach(() => {
    board = newBoard();
  });
  let stop = (): Promise<void> => Promise.resolve();
  afterEach(() => stop());

  function newBoard(
    settings: Partial<Pick<RedisBoardOptions, "emptyLaneMs" | "quotas" | "tenantOf">> = {},
  ): RedisBoard {
    return new RedisBoard({ redis, feed: broadcast(), clock: systemClock, ...settings });
  }

  const takeOne = async (from: RedisBoard, labels: Labels, holdMs: number) =>
    (await from.take({ labels }, holdMs, 1))[0];

  async function takeAll(labels = LINUX): Promise<string[]> {
    const taken: string[] = [];
    for (let offer = await takeOne(board, labels, HOLD_MS); offer; offer = await takeOne(board, labels, HOLD_MS)) {
      taken.push(offer.jobId);
    }
    return taken;
  }

  /** How often Redis has run the command since its statistics were reset, also within scripts. */
  async function callsOf(command: string): Promise<number> {
    const stats = await redis.info("commandstats");
    return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, "m").exec(stats)?.[1] ?? 0);
  }

  const harness: BoardHarness = {
    open: (quotas) => newBoard(quotas && { quotas }),
    later: (what, look) => until(what, look),
  };
  boardContract(harness);

  it("gives bound agents offers and reservations of their tenant or projects only", async () => {
    const tenantId = asId<TenantId>("tnt_a");
    const [own, sibling, foreign, unknown] = ["own", "sibling", "foreign", "unknown"].map(project);
    const tenants = new Map([
      [own, tenantId],
      [sibling, tenantId],
      [foreign, asId<TenantId>("tnt_b")],
    ]);
    const bound = () => newBoard({ tenantOf: (projectId) => Promise.resolve(tenants.get(projectId) ?? null) });
    const all = [own!, sibling!, foreign!, unknown!];
    expect([...(await bound().tenantsOf(all))]).to.deep.equal([...tenants]);
    const agents = {
      tenant: { labels: LINUX, reach: { tenantId, projectIds: null } },
      project: { labels: LINUX, reach: { tenantId, projectIds: [own!] } },
      installation: { labels: LINUX },
    };
    const reached = { tenant: [own, sibling], project: [own], installation: all };
    for (const [name, agent] of Object.entries(agents)) {
      const mayTake = reached[name as keyof typeof reached];
      await redis.flushall();
      for (const projectId of all) await bound().offer(offerOf(`for ${projectId}`, { projectId }));
      const taken = await bound().take(agent, HOLD_MS, 8);
      expect(
        taken.map(({ projectId }) => projectId),
        name,
      ).to.have.members(mayTake);
      await redis.flushall();
      await bound().attend("gateway", true);
      const vacancies = { agentId: asId<AgentId>("agt_a"), bootId: "b", attendanceId: "gateway", streamId: "s" };
      const requestIds = all.map((projectId) => `r${projectId}`);
      await bound().take(agent, HOLD_MS, 4, { ...vacancies, requestIds, seen: [], areShown: false });
      for (const projectId of all) {
        const reservation = await bound().reserve(offerOf(`new ${projectId}`, { projectId }));
        expect(reservation !== undefined, `${name}: ${projectId}`).to.equal(mayTake.includes(projectId));
      }
    }
  });

  describe("with vacancies", () => vacancyContract(harness));

  it("keeps nothing of a withdrawn offer, waiting or taken", async () => {
    await board.offer(offerOf("waiting"));
    await board.offer(offerOf("taken", { priority: 5 }));
    await takeOne(board, LINUX, 1);
    for (let n = 0; n < 2; n++) {
      await board.withdraw(job("waiting"));
      await board.withdraw(job("taken"));
    }
    await until("nothing is held", async () => (await redis.zcard("{board}:taken")) === 0);
    expect(await takeAll()).to.deep.equal([]);
    expect(await board.size()).to.equal(0);
  });

  it("runs as many commands with 20,000 offers that no agent can run as without them", async () => {
    await board.offer(offerOf("first"));
    await takeOne(board, LINUX, HOLD_MS);
    const commandsWithout = await commandsOf(async () => {
      await board.offer(offerOf("second"));
      await takeOne(board, LINUX, HOLD_MS);
    });
    const selector = needs("label", "no agent has this");
    for (let n = 0; n < 20_000; n += 1_000) {
      await Promise.all(Array.from({ length: 1_000 }, (_, at) => board.offer(offerOf(`stuck${n + at}`, { selector }))));
    }
    await takeOne(board, LINUX, HOLD_MS);
    const commandsWith = await commandsOf(async () => {
      await board.offer(offerOf("third"));
      expect((await takeOne(board, LINUX, HOLD_MS))?.jobId).to.equal("third");
    });
    expect(commandsWith).to.equal(commandsWithout);
    expect(await board.size()).to.equal(20_003);
  });

  it("answers agents without a match from memory, and finds a new lane at once", async () => {
    const wakes: Lane[] = [];
    stop = await board.onOffered((lane) => wakes.push(lane));
    const calls = await commandsOf(async () => {
      for (let n = 0; n < 1_000; n++) await takeOne(board, { agent: `${n}` }, HOLD_MS);
    });
    expect(calls).to.be.below(100);
    await board.offer(offerOf("a", { selector: needs("agent", "7") }));
    await until("the wake-up", () => wakes.length === 1);
    expect(wakes[0]).to.deep.equal({ projectId: "default", priority: 0, selector: needs("agent", "7") });
    expect((await takeOne(board, { agent: "7" }, HOLD_MS))?.jobId).to.equal("a");
    await stop();
  });

  it("puts and withdraws what is asked for in one turn in few calls, and announces each lane once", async () => {
    const heard: [Lane, number][] = [];
    stop = await board.onOffered((lane, count) => heard.push([lane, count]));
    const offers = Array.from({ length: 90 }, (_, at) =>
      offerOf(`j${at}`, { queuedAt: at, selector: needs("os", at % 3 === 0 ? "mac" : "linux") }),
    );
    // The server knows the scripts from then on.
    await board.offer(offerOf("first"));
    await board.withdraw(job("first"));
    await until("its announcement", () => heard.length === 1);
    heard.length = 0;
    await redis.config("RESETSTAT");
    await Promise.all(offers.map((offer) => board.offer(offer)));
    expect(await callsOf("evalsha")).to.equal(1);
    await until("both lanes", () => heard.length === 2);
    expect(heard).to.have.deep.members([
      [{ projectId: "default", priority: 0, selector: needs("os", "mac") }, 30],
      [{ projectId: "default", priority: 0, selector: needs("os", "linux") }, 60],
    ]);
    const gone = offers.slice(0, 60).map(({ jobId, queuedAt }) => board.withdraw(jobId, queuedAt));
    expect(await board.size(), "asked before the withdrawals were awaited").to.equal(30);
    await Promise.all(gone);
    expect(await callsOf("evalsha")).to.equal(2);
    // One call for all of them: those that were withdrawn are late, and the others are there.
    await Promise.all(offers.map((offer) => board.offer(offer)));
    expect(await callsOf("evalsha")).to.equal(3);
    expect(heard, "nothing has become available").to.have.length(2);
    expect(await takeAll()).to.deep.equal(offers.flatMap(({ jobId }, at) => (at >= 60 && at % 3 !== 0 ? [jobId] : [])));
  });

  it("asks Redis as often for two idle agents as for a hundred, while offers wait that none of them can run", async () => {
    let now = 0;
    board = new RedisBoard({ redis, feed: broadcast(), clock: { monotonic: () => now } });
    stop = await board.onOffered(() => {});
    await board.offer(offerOf("other", { selector: needs("os", "plan9") }));
    await board.offer(offerOf("mine", { selector: needs("os", "linux") }));
    await takeOne(board, LINUX, HOLD_MS);
    await board.withdraw(job("mine"));
    for (const os of ["linux", "none"]) {
      const asked: number[] = [];
      for (const count of [2, 100]) {
        const agents = Array.from({ length: count }, () => ({ labels: { os } }));
        await board.take(agents[0]!, HOLD_MS, 1);
        now += 1_000;
        await redis.config("RESETSTAT");
        const taken = await Promise.all(agents.map((agent) => board.take(agent, HOLD_MS, 1)));
        expect(taken.flat()).to.deep.equal([]);
        asked.push(await callsOf("evalsha"));
      }
      expect(asked, os).to.deep.equal([1, 1]);
    }
    await board.offer(offerOf("late", { selector: needs("os", "linux") }));
    expect((await takeOne(board, LINUX, HOLD_MS))!.jobId).to.equal("late");
    await stop();
  });

  it("visits as many lanes of three empty ones as of sixty while every offer is taken", async () => {
    const visited: number[] = [];
    for (const count of [3, 60]) {
      await redis.flushall();
      for (let n = 0; n < count; n++) {
        await board.offer(offerOf(`job${n}`, { projectId: project(`p${n}`) }));
        await takeOne(board, LINUX, HOLD_MS);
        if (n > 0) await board.withdraw(job(`job${n}`));
      }
      await redis.config("RESETSTAT");
      expect(await takeOne(board, LINUX, HOLD_MS)).to.equal(undefined);
      visited.push(await callsOf("zrange"));
    }
    expect(visited).to.deep.equal([0, 0]);
  });

  it("removes a lane that has stayed empty, but no lane with a taken offer", async () => {
    board = newBoard({ emptyLaneMs: 1 });
    await board.offer(offerOf("a"));
    await takeOne(board, LINUX, 200);
    await until("the lane may be looked at", async () => {
      await takeOne(board, { os: "none" }, 1);
      return (await redis.hlen("{board}:lanes")) === 1;
    });
    await until("the offer is back", () => takeOne(board, LINUX, 1));
    await board.withdraw(job("a"));
    await until("the lane is gone", async () => {
      await takeOne(board, { os: "other" }, 1);
      return (await redis.hlen("{board}:lanes")) === 0;
    });
    await board.offer(offerOf("b"));
    expect(await takeAll()).to.deep.equal(["b"]);
  });

  it("works again after Redis was emptied", async () => {
    await board.offer(offerOf("before"));
    await takeOne(board, LINUX, HOLD_MS);
    await redis.flushall();
    await redis.script("FLUSH");
    await board.offer(offerOf("after", { selector: needs("os", "linux") }));
    expect(await takeAll()).to.deep.equal(["after"]);
  });

  describe("with quotas", () => {
    const ofDefault = "project:default";
    const within = (quotas: Partial<Quotas>) => newBoard({ quotas: { ...NO_QUOTAS, ...quotas } });
    const offerAll = async (...ids: string[]) => {
      for (const [at, id] of ids.entries()) await board.offer(offerOf(id, { queuedAt: at }));
    };
    const used = async (...ids: string[]) =>
      (await board.quotaUse(ids.map(project))).map(({ name, taken, limit }) => `${name} ${taken}/${limit}`);

    it("frees the place of an offer that was not granted, and keeps the place of a granted job", async () => {
      board = within({ everyProject: 1 });
      await offerAll("a", "b");
      expect(await takeOne(board, LINUX, 30)).to.include({ jobId: "a" });
      const again = await until("the offer is back", () => takeOne(board, LINUX, 30));
      expect(again).to.deep.include({ jobId: "a", quotas: [ofDefault] });
      await board.occupy([again]);
      await board.withdraw(again.jobId);
      await until("the hold is over", async () => (await redis.zscore("{board}:taken", "a")) === null);
      expect(await takeAll()).to.deep.equal([]);
    });

    it("frees a place that is not renewed, also of a job that it has never offered", async () => {
      board = within({ everyProject: 1 });
      await offerAll("a");
      const key = `{board}:quota:${ofDefault}`;
      await board.occupy([{ jobId: job("ended"), quotas: [ofDefault] }]);
      expect(await takeAll()).to.deep.equal([]);
      const leftMs = Number(await redis.zscore(key, "ended")) - Date.now();
      expect(leftMs).to.be.within(PLACE_MS - 5_000, PLACE_MS);
      await redis.zadd(key, Date.now() - 1, "ended");
      expect(await takeAll()).to.deep.equal(["a"]);
    });

    it("gives no more offers of a tenant than its quota, and follows the quotas that count now", async () => {
      const tenantId = asId<TenantId>("tnt_a");
      const tenantOf = (id: string) => Promise.resolve(id === "foreign" ? null : tenantId);
      const setTo = (owner: string, limits: SetLimits): Quotas["set"] => new Map([[owner, limits]]) as never;
      let set = setTo("installation", { perTenant: 2 });
      board = newBoard({ tenantOf, quotas: () => ({ ...NO_QUOTAS, set: set! }) });
      for (const [at, id] of ["one", "two", "one", "two", "foreign"].entries()) {
        await board.offer(offerOf(`j${at}`, { projectId: project(id), queuedAt: at }));
      }
      expect(await takeAll()).to.deep.equal(["j0", "j1", "j4"]);
      expect(await used("one", "two", "foreign")).to.deep.equal(["tenant:tnt_a 2/2"]);
      const waits = { online: [{ labels: LINUX, slots: 9, busy: 0 }], tenants: new Map([[project("one"), tenantId]]) };
      const quotas = await board.quotaUse([project("one")]);
      expect(agentWait(ANY_AGENT, project("one"), { ...waits, quotas })).to.deep.equal({
        reason: "quota",
        clause: "tenant:tnt_a",
        text: "the quota of tenant tnt_a is reached: 2 of 2 jobs run",
      });
      set = setTo(`tenant/${tenantId}`, { perTenant: 4, perProject: 1 });
      expect(await takeAll()).to.deep.equal(["j2", "j3"]);
      set = setTo("project/one", { perProject: 1 });
      await board.offer(offerOf("j5", { projectId: project("one"), queuedAt: 9 }));
      await board.occupy([{ jobId: job("j2"), quotas: ["project:one"] }]);
      expect(await takeAll()).to.deep.equal([]);
    });

    it("writes no places to Redis without a quota", async () => {
      board = newBoard();
      await offerAll("a");
      expect(await used("default")).to.deep.equal([]);
      await takeAll();
      expect(await redis.keys("{board}:quota:*")).to.deep.equal([]);
    });
  });

  /** The number of commands that Redis runs during `act`, those within scripts included. */
  async function commandsOf(act: () => Promise<void>): Promise<number> {
    await redis.config("RESETSTAT");
    await act();
    const counts = (await redis.info("commandstats")).matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g);
    return [...counts].reduce((sum, [, name, calls]) => (name === "config|resetstat" ? sum : sum + Number(calls)), 0);
  }

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
