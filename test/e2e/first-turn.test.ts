/**
 * Which component takes the first turn of a run, in an installation with one process for each role. The edge that
 * creates the run decides the first turn and performs its effects. The owner of the shard performs the effects only
 * when the edge could not. docs/architecture.md says the same ("One request, from the trigger to a line on the
 * screen").
 */
import { join } from "node:path";
import { expect } from "chai";
import { ApiClient } from "../../src/cli/api-client.ts";
import { RedisBoard } from "../../src/board/redis-board.ts";
import type { JobRunId, RunId } from "../../src/domain/ids.ts";
import { storeFile } from "../../src/node/data-dir.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
const JOB = { name: "hello", steps: [{ name: "say", uses: "shell", args: { script: "echo good morning" } }] };

interface ShardView {
  readonly shard: number;
  readonly owner: string | null;
  readonly epoch: number;
  readonly depth: { readonly waiting: number; readonly active: number };
}

describe("the first turn of a run", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let redis: TestRedis;
  let client: RedisClient;
  let board: RedisBoard;
  let edge: ServeNode;
  let api: ApiClient;

  beforeEach(async () => {
    world = await ProcessWorld.create();
    redis = await startTestRedis();
    client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    // The test only reads the board, so it needs no feed.
    const silent = { messageOf: () => ["", ""] as const, subscribe: () => Promise.resolve(() => Promise.resolve()) };
    board = new RedisBoard({ redis: client, feed: silent, clock: { monotonic: () => performance.now() } });
    edge = await serve("edge");
    api = new ApiClient({ baseUrl: `http://${edge.http}`, token: () => Promise.resolve(ADMIN) });
  });
  afterEach(async () => {
    client?.disconnect();
    await world?.end();
    await redis?.stop();
  });

  const dataDir = () => join(world.folder, "data");
  const serve = (roles: string) =>
    world.serve(roles, {
      env: { REDIS_URL: redis.url, MILLRACE_BOOTSTRAP_TOKEN: ADMIN, MILLRACE_REGISTRATION_TOKEN: REGISTRATION },
    });

  async function startAgent(gateway: ServeNode): Promise<void> {
    const agent = world.agent(gateway.grpc!, {
      env: { MILLRACE_REGISTRATION_TOKEN: REGISTRATION, MILLRACE_AGENT_NAME: "one", LOG_LEVEL: "info" },
    });
    await agent.prints("welcomes this agent");
  }

  async function trigger(): Promise<{ readonly runId: RunId; readonly jobId: JobRunId }> {
    const { pipelineId } = await api.createPipeline("greet", "");
    await api.saveSpec(pipelineId, { jobs: [JOB] });
    const runId = (await api.trigger(pipelineId, {})).runId as RunId;
    return { runId, jobId: (await api.run(runId)).jobs[0]!.jobId as JobRunId };
  }

  /** What the store holds of a run, read directly from the store's file. */
  async function stored(runId: RunId) {
    const stores = await openSqliteStores({ path: storeFile(dataDir()) });
    try {
      const [head, plan, events] = await Promise.all([
        stores.aggregates.loadHead(runId),
        stores.plans.loadPlan(runId),
        stores.events.read(runId, 0, 100),
      ]);
      return { head: head!, plan: plan!, transitions: events.map(({ object, lifecycle }) => `${object}.${lifecycle}`) };
    } finally {
      await stores.close();
    }
  }

  async function shards(): Promise<readonly ShardView[]> {
    const headers = { authorization: `Bearer ${ADMIN}` };
    const response = await fetch(`http://${edge.http}/api/v1/cluster`, { headers });
    return ((await response.json()) as { detail: { shards: ShardView[] } }).detail.shards;
  }

  const noShardWasOwned = async () => (await shards()).every(({ owner, epoch }) => owner === null && epoch === 0);
  const ended = (runId: RunId) =>
    until(
      "the end of the run",
      async () => {
        const run = await api.run(runId);
        return run.endTime !== null && run;
      },
      30_000,
    );

  it("is taken by the edge: without a worker, the run is stored, offered and claimed", async () => {
    const { runId, jobId } = await trigger();

    const created = await stored(runId);
    expect(created.head.version, "saved once, when it was created").to.equal(1);
    expect(created.head.owed.map(({ effect }) => effect.type)).to.include.members(["offer", "publish"]);
    expect(created.plan.jobs.map(({ name }) => name)).to.deep.equal(["hello"]);
    expect(created.transitions).to.deep.equal(["pipeline.created", "pipeline.started", "job.queued"]);
    expect((await api.run(runId)).status).to.equal("running");
    const offers = await until("the offer is on the board", async () => {
      const found = await board.find([jobId]);
      return found.length > 0 && found;
    });
    expect(offers[0]).to.include({ runId, jobId });
    expect(
      (await shards()).every(({ depth }) => depth.waiting === 0),
      "no message was sent",
    ).to.equal(true);

    // The gateway requests the job for its agent, although no owner can grant it.
    await startAgent(await serve("gateway"));
    await until("a claim waits in the mailbox of the run", async () => {
      const { shard } = created.head;
      return (await shards()).find((view) => view.shard === shard)!.depth.waiting > 0;
    });
    expect(await noShardWasOwned(), "no shard was owned").to.equal(true);
    expect((await stored(runId)).head.version, "no owner has saved the run").to.equal(1);
    expect((await api.run(runId)).jobs[0]).to.include({ status: "queued", agentId: null });

    // A worker finishes the run.
    await serve("worker");
    expect((await ended(runId)).status).to.equal("success");
    const { epoch } = (await shards()).find(({ shard }) => shard === created.head.shard)!;
    expect(epoch, "one owner, which took the time as its epoch").to.be.closeTo(Date.now(), 60_000);
    expect((await stored(runId)).transitions).to.include.members(["job.started", "pipeline.completed"]);
  });

  it("is performed by the owner of the shard when the edge could not perform it", async () => {
    await redis.kill();
    const { runId, jobId } = await trigger();
    expect((await stored(runId)).head, "stored without Redis").to.include({ version: 1, final: false });
    edge.kill("SIGKILL");
    await edge.exited;
    await redis.restart();
    expect(await board.find([jobId]), "the edge has offered nothing").to.deep.equal([]);

    await startAgent(await serve("gateway"));
    await serve("worker");
    edge = await serve("edge");
    api = new ApiClient({ baseUrl: `http://${edge.http}`, token: () => Promise.resolve(ADMIN) });
    expect((await ended(runId)).status).to.equal("success");
  });
});
