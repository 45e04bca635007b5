/** The verification of offers, places and owners over a real board, each check by a corruption. */
import { expect } from "chai";
import { Redis } from "ioredis";
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import { eventsOf } from "../../../actors/kernel/performer.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { Hints } from "../../../src/app/verification/hints.ts";
import { verifyStores } from "../../../src/app/verification/verify-stores.ts";
import { BoardInspection } from "../../../src/board/board-inspection.ts";
import { RedisBoard } from "../../../src/board/redis-board.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import type { Offer } from "../../../src/domain/effects.ts";
import { asId, type JobRunId, newId } from "../../../src/domain/ids.ts";
import { RedisFeed } from "../../../src/feed/redis-feed.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { Aggregate } from "../../../src/stores/ports/aggregates.ts";
import { actorOf, sampleAggregate } from "../../contracts/samples.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { jobSpecsOf, planOf } from "../../support/plans.ts";
import { startTestRedis, type TestRedis } from "../../support/redis.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { pipelineRecord } from "../../support/pipelines.ts";

const PIPELINE = pipelineRecord(planOf([]).pipelineId, { projectId: planOf([]).projectId });

describe("the verification of what Redis holds", () => {
  let server: TestRedis;
  let redis: Redis;
  let feed: RedisFeed;
  let board: RedisBoard;
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let run: Aggregate;
  let owner: string | null;
  before(async () => {
    server = await startTestRedis();
    redis = new Redis(server.url);
    feed = new RedisFeed({ publisher: redis, subscriber: new Redis(server.url), log: silentLog });
    board = new RedisBoard({ redis, feed, clock: systemClock });
  });
  after(async () => {
    await feed?.close();
    redis?.disconnect();
    await server?.stop();
  });
  beforeEach(async () => {
    await redis.flushall();
    opened = await openTestSqlite();
    owner = "node";
    run = await storeQueuedRun();
    await opened.stores.pipelines.create(PIPELINE);
    await opened.stores.shards.takeEpoch(0);
    await board.offer(offer());
  });
  afterEach(() => opened.close());

  async function storeQueuedRun(): Promise<Aggregate> {
    const plan = planOf([[{}]]);
    const runId = newId("run");
    const { origin } = sampleAggregate().head;
    const now = Date.now();
    const made = createRunAggregate({ runId, shard: 0, plan, origin, now });
    const stored = takeFirstTurn(made, plan, now, aggregateTypeOf(runId), () => []);
    await opened.stores.aggregates.create(stored, {
      plan: { graph: plan, jobs: jobSpecsOf(plan) },
      events: eventsOf(stored.head, stored.head.owed),
    });
    return stored;
  }

  const jobId = () => asId<JobRunId>(actorOf(run, "job").id);
  const offer = (): Offer => run.head.owed.flatMap(({ effect }) => (effect.type === "offer" ? [effect.offer] : []))[0]!;
  const hints = (): Hints => ({
    board: new BoardInspection(redis, () => [redis]),
    owners: () => Promise.resolve(new Map([[0, owner]])),
    nodes: () => Promise.resolve(new Set(["node"])),
  });
  const verified = () =>
    verifyStores(opened.stores, { shards: 1, hints: hints(), pauses: { storeMs: 1, hintMs: 1, placeMs: 50 } });
  const found = async () =>
    (await verified()).differences.map(({ kind, object, text }) => `${kind}: ${object} ${text}`);

  /** Saves the job as granted, with a place in a quota. */
  async function grant(): Promise<void> {
    const { head } = run;
    const job = actorOf(run, "job");
    const granted = { agentId: asId<never>("agt_X"), bootId: "boot", requestId: "", token: 1 };
    const patch: Partial<JobState> = { state: "running", grant: granted, fence: 1, quotas: ["gpu"], queueTimer: null };
    const state = { ...(job.state as JobState), ...patch };
    const changed = [{ ...job, state, index: { ...job.index, status: "running", agentId: granted.agentId } }];
    const next = { ...head, version: 2, owed: [], summary: { ...head.summary, bound: true } };
    await opened.stores.aggregates.save({ expectedVersion: 1, head: next, changed, events: [] });
    await board.withdraw(jobId());
    await board.occupy([{ jobId: jobId(), quotas: ["gpu"] }]);
  }

  it("finds nothing while offers and places are those of the jobs", async () => {
    expect(await found()).to.deep.equal([]);
    await grant();
    const { differences, read, skipped } = await verified();
    expect({ differences, skipped }).to.deep.equal({ differences: [], skipped: [] });
    expect(read).to.include({ offers: 0, places: 1 });
  });

  it("finds a queued job without its offer, and one whose offer is another one", async () => {
    await board.withdraw(jobId());
    expect(await found()).to.deep.equal([`offer: ${jobId()} is queued, and its offer is not on the board`]);
    await board.offer({ ...offer(), priority: 7 });
    expect(await found()).to.deep.equal([`offer: ${jobId()} is queued, and its offer on the board is another one`]);
  });

  it("expects nothing of an owner that died after the first look, and says so", async () => {
    await board.withdraw(jobId());
    let looks = 0;
    const owners = () => Promise.resolve(new Map([[0, looks++ === 0 ? "node" : null]]));
    const options = { shards: 1, hints: { ...hints(), owners }, pauses: { storeMs: 1, hintMs: 1, placeMs: 1 } };
    const { differences, skipped } = await verifyStores(opened.stores, options);
    expect(differences).to.deep.equal([]);
    expect(skipped).to.deep.equal(["offers, places and owed effects of 1 shards: no worker that lives owns them"]);
  });

  it("finds offers of jobs that run or do not exist", async () => {
    await grant();
    await board.offer(offer());
    const unknown = asId<JobRunId>("job_UNKNOWN");
    await board.offer({ ...offer(), jobId: unknown });
    expect(await found()).to.have.members([
      `offer: ${jobId()} is offered on the board, and the job is running`,
      `offer: ${unknown} is offered on the board, and there is no such job`,
    ]);
  });

  it("finds a job that runs without its place, and a place that stays without its job", async () => {
    await grant();
    await board.vacate({ jobId: jobId(), quotas: ["gpu"] });
    expect(await found()).to.deep.equal([`place: ${jobId()} runs, and has no place in the quota gpu`]);
    await board.occupy([{ jobId: jobId(), quotas: ["gpu", "cpu"] }]);
    expect(await found()).to.deep.equal([`place: ${jobId()} keeps a place in the quota cpu, and the job is running`]);
  });

  it("does not report a place that expires by itself", async () => {
    const in20Ms = Date.now() + 20;
    await redis.zadd("{board}:quota:gpu", in20Ms, "job_ENDED");
    expect(await found()).to.deep.equal([]);
  });

  it("finds a run that goes on without its pipeline, until the run is being stopped", async () => {
    await opened.stores.pipelines.delete(PIPELINE.pipelineId);
    const text = `is not stopped, and its pipeline ${PIPELINE.pipelineId} does not exist`;
    expect(await found()).to.deep.equal([`orphan: ${run.head.rootId} ${text}`]);
    const root = actorOf(run, "run");
    const changed = [{ ...root, state: { ...(root.state as RunState), state: "stopping" } }];
    const head = { ...run.head, version: 2 };
    await opened.stores.aggregates.save({ expectedVersion: 1, head, changed, events: [] });
    expect(await found()).to.deep.equal([]);
  });

  it("finds an owner that is gone, and a shard without an epoch", async () => {
    owner = "dead";
    const { differences, skipped } = await verified();
    expect(differences.map(({ text }) => text)).to.deep.equal(["is owned by node dead, which does not live"]);
    expect(skipped).to.deep.equal(["offers, places and owed effects of 1 shards: no worker that lives owns them"]);
  });

  it("finds a run that has ended and still owes, and a timer that was forgotten", async () => {
    const late = { ...run.head, version: 2, nextDueAt: 1_000 };
    await opened.stores.aggregates.save({ expectedVersion: 1, head: late, changed: [], events: [] });
    expect(await found()).to.include(`owed: ${run.head.rootId} has a timer that was due at 1970-01-01T00:00:01.000Z`);
    const ended = { ...run.head, version: 3, final: true };
    await opened.stores.aggregates.save({ expectedVersion: 2, head: ended, changed: [], events: [] });
    expect(await found()).to.include(
      `owed: ${run.head.rootId} has ended and still owes ${run.head.owed.length} effects`,
    );
  });

  it("says that Redis cannot be read, and verifies the store", async () => {
    const failing: Hints = { ...hints(), owners: () => Promise.reject(new Error("no answer")) };
    const { differences, skipped } = await verifyStores(opened.stores, { shards: 1, hints: failing });
    expect(differences).to.deep.equal([]);
    expect(skipped).to.deep.equal(["offers, places and owners: Redis cannot be read (Error: no answer)"]);
  });

  it("keeps what the store shows when Redis ends between two looks", async () => {
    await board.withdraw(jobId());
    const { board: whole, ...rest } = hints();
    let calls = 0;
    const gone = () => Promise.reject(new Error("Connection is closed."));
    const findOffers = (jobIds: readonly JobRunId[]) => (calls++ === 0 ? whole.findOffers(jobIds) : gone());
    const failing: Hints = {
      ...rest,
      board: {
        findOffers,
        offers: () => whole.offers(),
        places: () => whole.places(),
        hasPlace: (...place) => whole.hasPlace(...place),
      },
    };
    await opened.stores.outputs.put({ runId: newId("run"), stepRunId: newId("step"), token: 1, values: [] }, 1_000);
    const pauses = { storeMs: 1, hintMs: 1, placeMs: 1 };
    const { differences, skipped } = await verifyStores(opened.stores, { shards: 1, hints: failing, pauses });
    expect(differences.map(({ kind }) => kind)).to.deep.equal(["orphan"]);
    expect(skipped).to.deep.equal(["offers, places and owners: Redis cannot be read (Error: Connection is closed.)"]);
  });
});
