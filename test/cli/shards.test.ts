import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { leaseKeys } from "../../queues/owned-shard.ts";
import { shardOf } from "../../queues/shard-map.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { connectRedis } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { type Exit, ProcessWorld, type ServeNode, type StartedProcess } from "../support/processes.ts";
import { startTestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const TOKEN = "an-administrator-token-for-these-tests-only";
const REGISTRATION = "a-registration-token-for-these-tests-only";
const EVERYTHING = "edge,gateway,worker";
/** Several pages of the command's work, so that some are stored when it is killed. */
const OLD_RUNS = 200;

describe("millrace shards set", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let node: ServeNode | undefined;

  beforeEach(async () => {
    world = await ProcessWorld.create();
    node = undefined;
  });
  afterEach(() => world.end());

  const file = () => join(world.folder, "data", "millrace.db");
  const env = { MILLRACE_BOOTSTRAP_TOKEN: TOKEN, MILLRACE_REGISTRATION_TOKEN: REGISTRATION };

  function set(shards: number | string, more: Readonly<Record<string, string>> = {}): StartedProcess {
    return world.start(["shards", "set", String(shards), "--data-dir", join(world.folder, "data")], { env: more });
  }
  async function ended(started: StartedProcess): Promise<Pick<Exit, "code"> & { text: string }> {
    const { code } = await started.exited;
    return { code, text: started.stdout + started.stderr };
  }
  async function stop(): Promise<void> {
    node!.kill("SIGTERM");
    await node!.exited;
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function call(path: string, body?: object): Promise<any> {
    const response = await fetch(`http://${node!.http}/api/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.status, `${path}: ${text}`).to.equal(200);
    return (JSON.parse(text) as { detail: unknown }).detail;
  }
  /** Reads the file beside the processes that use it. */
  function read<T>(query: (database: SqliteConnection) => T): T {
    const database = new SqliteConnection(file());
    try {
      database.pragma("busy_timeout = 5000");
      return query(database);
    } finally {
      database.close();
    }
  }
  const storedNumber = () =>
    read((database) => database.prepare("SELECT value FROM settings WHERE name = 'MAILBOX_SHARDS'").get()) as {
      value: string;
    };
  /** The identities of the roots that the command has still to move, in the order in which it moves them. */
  const misplaced = () =>
    (
      read((database) => database.prepare("SELECT root_id, shard FROM aggregates ORDER BY root_id").all()) as {
        root_id: string;
        shard: number;
      }[]
    ).flatMap(({ root_id: rootId, shard }) => (shard === shardOf(rootId, 64) ? [] : [rootId]));
  /** Lets the process that moves the root `rootId` count for hours, within the transaction. */
  function holdAt(rootId: string): void {
    read((database) =>
      database.exec(`CREATE TRIGGER hold AFTER UPDATE OF shard ON aggregates WHEN NEW.root_id = '${rootId}' BEGIN
        SELECT count(*) FROM
          (WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1e12) SELECT x FROM n);
      END`),
    );
  }

  it("lets every run go on under another number, also after it was killed in the middle", async () => {
    node = await world.serve(EVERYTHING, { env: { ...env, MAILBOX_SHARDS: "16" } });
    const steps = [{ name: "say", uses: "shell", args: { script: "echo hello" } }];
    const jobs = [
      { name: "first", steps, timeout: "10m" },
      { name: "gated", steps, needs: ["first"], approval: {} },
    ];
    const { pipelineId } = await call("/pipelines", { name: "waits" });
    await call(`/pipelines/${pipelineId}/spec/save`, { spec: { jobs } });
    const runs: string[] = [];
    for (let at = 0; at < 12; at++) runs.push((await call(`/pipelines/${pipelineId}/trigger`, {})).runId);
    const paused = runs.pop()!;
    await until("a run runs", async () => (await call(`/pipelines/runs/${paused}`)).status === "running");
    await call(`/pipelines/${pipelineId}/runs/${paused}/pause`, {});
    expect((await ended(set(64))).text, "while the node runs").to.contain(`already running (pid ${node.pid})`);
    await stop();
    await addOldRuns();

    const atFirst = misplaced();
    holdAt(atFirst.at(-1)!);
    const killed = set(64);
    await until("the change has begun", () => misplaced().length < atFirst.length, 30_000);
    killed.kill("SIGKILL");
    await killed.exited;
    read((database) => database.exec("DROP TRIGGER hold"));
    expect(storedNumber().value).to.equal("16 to 64");
    expect(misplaced(), "it was killed in the middle").to.include(atFirst.at(-1));
    const refused = world.start(["serve"], { env: { MILLRACE_DATA_DIR: join(world.folder, "data") } });
    expect((await refused.exited).code).to.equal(1);
    expect(refused.stderr).to.contain("the number of shards is being changed from 16 to 64");

    const repeated = await ended(set(64));
    expect(repeated.text).to.match(
      /^16 shards are now 64: moved \d+ runs and groups, \d+ commands and 0 dead letters\n$/,
    );
    expect([repeated.code, storedNumber().value, misplaced()]).to.deep.equal([0, "64", []]);
    expect((await ended(set(64))).text).to.equal("the installation has 64 shards already\n");
    const stores = await openSqliteStores({ path: file() });
    const entries = await stores.audit.page({ area: "installation" }, { limit: 100, descending: true });
    await stores.close();
    const changes = entries.filter(({ operation }) => operation === "changeShards");
    // The command that was killed has changed nothing yet, and the one that found 64 shards had nothing to change.
    expect(changes.map(({ from, before, after }) => [from.door, before, after])).to.deep.equal([
      ["machine", { shards: 16 }, { shards: 64 }],
    ]);

    node = await world.serve(EVERYTHING, { env });
    expect((await call("/cluster")).shards).to.have.length(64);
    expect((await call(`/pipelines/runs/${paused}`)).status).to.equal("paused");
    await call(`/pipelines/${pipelineId}/runs/${paused}/resume`, {});
    world.agent(node.grpc!, { env: { MILLRACE_REGISTRATION_TOKEN: REGISTRATION, MILLRACE_AGENT_SLOTS: "4" } });
    for (const runId of [...runs, paused]) {
      const approval = await until(
        "the run asks for its approval",
        async () => (await call(`/pipelines/runs/${runId}/approvals`)).list[0],
        60_000,
      );
      await call(`/pipelines/${pipelineId}/runs/${runId}/approvals/${approval.approvalId}/approve`, {});
    }
    for (const runId of [...runs, paused]) {
      const run = await until(
        "the run has ended",
        async () => {
          const found = await call(`/pipelines/runs/${runId}`);
          return found.endTime === null ? undefined : found;
        },
        60_000,
      );
      expect(run.status, JSON.stringify(run)).to.equal("success");
      expect(run.jobs.every(({ attempt }: { attempt: number }) => attempt === 1)).to.equal(true);
    }
  });

  /** Ended runs, which no owner touches. */
  async function addOldRuns(): Promise<void> {
    const stores = await openSqliteStores({ path: file() });
    const ended = { final: true, settled: true, nextDueAt: null, owed: [] };
    await Promise.all(
      Array.from({ length: OLD_RUNS }, async () => {
        const { head, actors } = sampleAggregate();
        const summary = { ...head.summary, status: "success", endedAt: head.summary.createdAt } as const;
        await stores.aggregates.create({
          head: { ...head, ...ended, summary, shard: shardOf(head.rootId, 16) },
          actors,
        });
      }),
    );
    await stores.close();
  }

  it("refuses while a node is announced in Redis, or a shard has an owner", async () => {
    const redis = await startTestRedis();
    const client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    const scaled = {
      REDIS_URL: redis.url,
      MILLRACE_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
      MILLRACE_MASTER_KEY: "0123456789abcdef".repeat(4),
    };
    try {
      node = await world.serve("edge", { env: { ...env, ...scaled } });
      const whileAlive = await ended(set(8, scaled));
      expect([whileAlive.code, whileAlive.text]).to.satisfy(
        ([code, text]: [number, string]) => code === 1 && text.includes(`a node lives (pid ${node!.pid}`),
      );
      await stop();
      await client.set(leaseKeys(63).lease, "someone");
      expect((await ended(set(8, scaled))).text).to.contain("node someone still owns shard 63");
      expect(storedNumber().value, "nothing has changed").to.equal("64");
      await client.del(leaseKeys(63).lease);
      expect((await ended(set(8, scaled))).text).to.contain("64 shards are now 8");
      expect(storedNumber().value).to.equal("8");
    } finally {
      client.disconnect();
      await redis.stop();
    }
  });

  it("says what is wrong with its arguments, and makes no store", async () => {
    expect(await ended(set("many"))).to.deep.include({ code: 2 });
    expect((await ended(set(2_000))).text).to.contain("from 1 to 1024");
    const nowhere = await ended(set(8));
    expect(nowhere.text).to.contain("there is no store in");
    expect(existsSync(file())).to.equal(false);
  });
});
