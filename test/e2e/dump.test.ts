/**
 * A MongoDB whose collections are dumped one after the other while runs are running, as mongodump does, and that is
 * restored beside an empty Redis: every run in the dump ends, with complete events and logs.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { type Db, type Document, MongoClient } from "mongodb";
import { ApiClient } from "../../src/cli/api-client.ts";
import type { RunDetail } from "../../src/cli/run-tree.ts";
import type { StepRunId } from "../../src/domain/ids.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { collectRuns } from "../chaos/check/collect.ts";
import { checkTransitions } from "../chaos/check/transitions.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** The collections that docs/operations.md tells operators to dump. */
const DUMPED = (
  "hook_deliveries aggregates ended_attempts inbox inbox_counters idempotency events log_joinings log_heads log_chunks agent_events step_outputs step_notes run_images artifacts caches " +
  "uploads upload_uses " +
  "plans job_specs pipelines revisions plugins owned_plugins blobs.files blobs.chunks secrets bindings team_members teams projects tenants tokens identities agents " +
  "users dead_letters shards settings removals pipeline_deletions area_deletions documents statistics test_histories failing_revisions audit system_events deliveries hooks"
).split(" ");
/** Look-ups, which `repair` makes again, and what ends with a restore. */
const LEFT_OUT = ["job_runs", "step_runs", "approvals", "user_counts", "statistics_additions", "sessions", "vouchers"];
const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
/** Pause between two collections, so that their dumps show different moments. */
const PAUSE_MS = 150;
const LINES = 20;

describe("an installation whose MongoDB is restored from a dump", function () {
  this.timeout(180_000);
  let world: ProcessWorld;
  let servers: TestRedis[];
  let client: MongoClient;
  let url: string;

  before(async () => {
    world = await ProcessWorld.create();
    servers = await Promise.all([startTestRedis(), startTestRedis()]);
    ({ url } = await startTestMongo());
    client = await MongoClient.connect(url);
  });
  after(async () => {
    await client?.close();
    await world?.end();
    await Promise.all(servers.map((server) => server.stop()));
  });

  const environment = (redis: TestRedis, database: string) => ({
    REDIS_URL: redis.url,
    MONGODB_URL: url,
    MONGODB_DATABASE: database,
    MILLRACE_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
    MILLRACE_MASTER_KEY: "0123456789abcdef".repeat(4),
    MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
    MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
  });
  const startAgent = (node: ServeNode, name: string) =>
    world.agent(node.grpc!, {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        MILLRACE_AGENT_NAME: name,
        MILLRACE_AGENT_SLOTS: "6",
        MILLRACE_DATA_DIR: join(world.folder, name),
      },
    });

  it("ends every run of the dump after `millrace repair`", async () => {
    const [before, after] = [freshDatabase(), freshDatabase()];
    const first = await world.serve("edge,gateway,worker", { env: environment(servers[0]!, before) });
    const agent = startAgent(first, "first");
    const api = new ApiClient({ baseUrl: `http://${first.http}`, token: () => Promise.resolve(ADMIN) });
    const { pipelineId } = await api.createPipeline("flowing", "");
    const script = `for n in $(seq ${LINES}); do echo "$MILLRACE_JOB_ATTEMPT $$ $n"; done; sleep 0.3`;
    const steps = ["one", "two"].map((name) => ({ name, uses: "shell", args: { script } }));
    const job = { agentLeaseTimeout: "10s", steps };
    await api.saveSpec(pipelineId, {
      jobs: [
        { name: "a", ...job },
        { name: "b", needs: ["a"], ...job },
      ],
    });

    let dumping = true;
    const triggered: string[] = [];
    const flow = (async () => {
      for (; dumping; await sleep(100)) {
        const { runId } = await api.trigger(pipelineId, {});
        triggered.push(runId);
        if (triggered.length % 7 === 0) await api.stop(pipelineId, runId, "every seventh");
      }
    })();
    await until(
      "some runs ended",
      async () => (await api.run(triggered[2] ?? "").catch(() => null))?.status === "success",
      20_000,
    );
    const stored = await openMongoStores({ url, database: before, readOnly: true });
    const whole = stepIdsOf(await api.run(triggered[0]!));
    await until("the log of the first run is stored", async () => {
      const logs = await Promise.all(whole.map((stepRunId) => stored.logs.read(stepRunId, 1, 1_000)));
      return logs.every(({ length }) => length === LINES);
    });
    await stored.close();
    const dump = await dumpOf(client.db(before));
    dumping = false;
    await flow;
    for (const process of [first, agent]) process.kill("SIGKILL");
    await Promise.all([first, agent].map(({ exited }) => exited));

    await restore(client.db(after), dump);
    const env = environment(servers[1]!, after);
    const repair = world.start(["repair"], { env });
    expect((await repair.exited).code, repair.stderr).to.equal(0);
    expect(repair.stdout).to.match(
      /^\d+ runs are consistent; removed records that were newer than their runs: \d+ events, /,
    );
    const second = await world.serve("edge,gateway,worker", { env });
    const refused = world.start(["repair"], { env });
    expect((await refused.exited).code).to.equal(1);
    expect(refused.stderr).to.include(`a node lives (pid ${second.pid} on `);
    // A new agent: it holds none of the first agent's steps.
    startAgent(second, "second");

    const stores = await openMongoStores({ url, database: after });
    const restored = { stores, mongoDatabase: { url, name: after }, storeFile: "", format: STORED_FORMAT };
    try {
      const runs = await until(
        "every run in the dump is settled",
        async () => {
          const found = await collectRuns(restored, [pipelineId]);
          return found.every(({ settled }) => settled) && found;
        },
        90_000,
      );
      expect(runs.length).to.be.within(3, triggered.length - 1);
      expect(
        runs.flatMap(({ jobs }) => jobs).some(({ attempt }) => attempt === 2),
        "some jobs were retried",
      ).to.equal(true);
      const firstAgent = runs.find(({ runId }) => runId === triggered[0])!.jobs[0]!.agentId;
      for (const run of runs) {
        expect(run.status).to.be.oneOf(["success", "cancelled"]);
        expect(checkTransitions(run), run.runId).to.deep.equal([]);
        for (const { agentId, steps } of run.jobs) {
          for (const { stepRunId, status } of steps) {
            if (status !== "success") continue;
            const id = stepRunId as StepRunId;
            // The killed agent may have held lines of its last steps, and an agent delivers them after the report.
            if (whole.includes(id) || agentId !== firstAgent) {
              await until(`all lines of ${id}`, async () => (await stores.logs.read(id, 1, 1_000)).length >= LINES);
            }
            const log = await stores.logs.read(id, 1, 1_000);
            const lines = log.map(({ line }) => line);
            expect(lines, id).to.deep.equal(Array.from(lines, (_, n) => n + 1));
            expect(lines.length, id).to.be.at.most(LINES);
            const writers = log.map(({ content }) => content.replace(/ \d+$/, ""));
            expect(new Set(writers).size, "lines of one execution").to.be.at.most(1);
          }
        }
      }
    } finally {
      await stores.close();
    }
  });
});

function stepIdsOf({ jobs }: RunDetail): readonly StepRunId[] {
  return jobs.flatMap(({ steps }) => steps.map(({ stepRunId }) => stepRunId as StepRunId));
}

interface DumpedCollection {
  readonly name: string;
  readonly documents: readonly Document[];
  readonly indexes: readonly Document[];
}

/** Reads one collection after the other, with its indexes. */
async function dumpOf(db: Db): Promise<readonly DumpedCollection[]> {
  const dumped: DumpedCollection[] = [];
  for (const name of DUMPED) {
    const collection = db.collection(name);
    const documents = await collection.find().toArray();
    dumped.push({ name, documents, indexes: documents.length === 0 ? [] : await collection.indexes() });
    await sleep(PAUSE_MS);
  }
  const existing = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  expect([...DUMPED, ...LEFT_OUT], "every collection is dumped or left out").to.include.members(existing);
  return dumped;
}

async function restore(db: Db, dump: readonly DumpedCollection[]): Promise<void> {
  for (const { name, documents, indexes } of dump) {
    if (documents.length === 0) continue;
    await db.collection(name).insertMany([...documents]);
    for (const { key, unique = false } of indexes) await db.collection(name).createIndex(key, { unique });
  }
}
