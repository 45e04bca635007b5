/**
 * The installations that the model of capacity is measured on. `mongodb`: an edge, a gateway and a worker, each a process of
 * its own, as large installations run them, on the MongoDB of the benchmark. `sqlite`: one node of all roles. Both have a Redis
 * and an agent of their own.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { BSON, type Db, MongoClient } from "mongodb";
import { storeFile } from "../../src/node/data-dir.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { ProcessWorld, type ServeNode, type StartedProcess } from "../../test/support/processes.ts";
import { startTestRedis, type TestRedis } from "../../test/support/redis.ts";
import { cpuTime } from "../measure/cpu.ts";
import type { StepCounts } from "../measure/step-counts.ts";
import { REGISTRATION, startAgent } from "../measure/agent.ts";
import { AgentLog } from "../millrace/agent-log.ts";
import { Api } from "../millrace/api.ts";
import { TOKEN } from "../millrace/installation.ts";
import { startMongo } from "../millrace/mongo.ts";
import type { Costs, StoreName } from "./model.ts";
import { stepFiles } from "./shapes.ts";
import { MongoCommands } from "./mongo-commands.ts";

const NODES: Readonly<Record<StoreName, Readonly<Record<string, string>>>> = {
  mongodb: { edge: "edge", gateway: "gateway", worker: "worker" },
  sqlite: { node: "edge,gateway,worker" },
};
/** More than the jobs that run at a time: a job that waits for a slot costs more than others. */
const AGENT_SLOTS = 50;
const SHOWN_LOG_CHARS = 2_000;

/** What the store holds. */
interface StoreBytes {
  readonly bytes: () => Promise<number>;
  readonly runs: () => Promise<number>;
  /** Commands until now; null where the store has none. */
  readonly commands: () => number | null;
  readonly close: () => Promise<void>;
}

export class CapacityWorld {
  readonly api: Api;
  /** `host:port` of the edge and of the gateway. */
  readonly http: string;
  readonly grpc: string;
  readonly #world: ProcessWorld;
  readonly #redis: TestRedis;
  readonly #redisClient: Redis;
  readonly #redisPid: number;
  readonly #nodes: Readonly<Record<string, ServeNode>>;
  readonly #agent: StartedProcess;
  readonly #agentLog: AgentLog;
  readonly #store: StoreBytes;

  static async start(storeName: StoreName): Promise<CapacityWorld> {
    const world = await ProcessWorld.create();
    const redis = await startTestRedis();
    try {
      for (const [name, text] of stepFiles()) await writeFile(join(world.folder, name), text);
      const dataDir = join(world.folder, "data");
      const [store, storeEnv] = storeName === "sqlite" ? [sqliteBytes(dataDir), {}] : await mongoBytes();
      const env = {
        ...storeEnv,
        MILLRACE_DATA_DIR: dataDir,
        REDIS_URL: redis.url,
        MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
      };
      const nodes: Record<string, ServeNode> = {};
      for (const [name, roles] of Object.entries(NODES[storeName])) nodes[name] = await world.serve(roles, { env });
      const agent = await startAgent(world, (nodes["gateway"] ?? nodes["node"])!.grpc!, AGENT_SLOTS);
      const client = new Redis(redis.connection);
      const pid = Number(/^process_id:(\d+)/m.exec(await client.info("server"))![1]);
      return new CapacityWorld(world, { server: redis, client, pid }, nodes, agent, store);
    } catch (error) {
      await world.end();
      await redis.stop();
      throw error;
    }
  }

  private constructor(
    world: ProcessWorld,
    redis: { readonly server: TestRedis; readonly client: Redis; readonly pid: number },
    nodes: Readonly<Record<string, ServeNode>>,
    agent: StartedProcess,
    store: StoreBytes,
  ) {
    this.#world = world;
    this.#redis = redis.server;
    this.#redisClient = redis.client;
    this.#redisPid = redis.pid;
    this.#nodes = nodes;
    this.#agent = agent;
    this.#agentLog = new AgentLog(agent);
    this.#store = store;
    const { http } = (nodes["edge"] ?? nodes["node"])!;
    this.http = http!;
    this.grpc = (nodes["gateway"] ?? nodes["node"])!.grpc!;
    this.api = new Api(`http://${http}`, TOKEN);
  }

  /** The folder with the files of the steps. */
  get stepFolder(): string {
    return this.#world.folder;
  }

  /** What all was used since the start. The bytes are counted apart, because counting takes long. */
  async used(): Promise<Costs> {
    const cpuMs = Object.entries(this.#nodes).map(([name, { pid }]) => [`${name}Ms`, cpuTime(pid).ownMs]);
    const calls = await Promise.all(Object.values(this.#nodes).map(({ metrics }) => countedCalls(metrics!)));
    const sum = (of: "store" | "redis"): number => calls.reduce((all, counted) => all + counted[of], 0);
    return {
      ...(Object.fromEntries(cpuMs) as Record<string, number>),
      redisMs: cpuTime(this.#redisPid).ownMs,
      agentMs: cpuTime(this.#agent.pid).ownMs,
      storeCalls: this.#store.commands() ?? sum("store"),
      redisCalls: sum("redis"),
    };
  }

  /** Lines of logs that the gateway has stored since its start. They may arrive after the end of their run. */
  async storedLines(): Promise<number> {
    const { metrics } = (this.#nodes["gateway"] ?? this.#nodes["node"])!;
    return sumOf("millrace_log_lines_total", await metricsOf(metrics!));
  }

  /** What the store holds: pages of the file of SQLite, documents of MongoDB. */
  storeBytes(): Promise<number> {
    return this.#store.bytes();
  }

  /** How many runs the store holds. */
  storedRuns(): Promise<number> {
    return this.#store.runs();
  }

  async redisBytes(): Promise<number> {
    return Number(/^used_memory:(\d+)/m.exec(await this.#redisClient.info("memory"))![1]);
  }

  takeStepCounts(): StepCounts {
    return this.#agentLog.takeStepCounts();
  }

  logTails(): string {
    const logs = { ...this.#nodes, agent: { process: this.#agent } };
    return Object.entries(logs)
      .map(([name, { process }]) => `the log of the ${name} ends:\n${process.stderr.slice(-SHOWN_LOG_CHARS)}`)
      .join("\n");
  }

  async stop(): Promise<void> {
    this.api.close();
    this.#redisClient.disconnect();
    await this.#world.end();
    await this.#redis.stop();
    await this.#store.close();
  }
}

/** The calls that a node itself counts. */
async function countedCalls(metrics: string): Promise<{ readonly store: number; readonly redis: number }> {
  const text = await metricsOf(metrics);
  return {
    store: sumOf("millrace_store_call_seconds_count", text),
    redis: sumOf("millrace_redis_call_seconds_count", text),
  };
}

async function metricsOf(metrics: string): Promise<string> {
  // Not over a connection that was open: the node may be closing it.
  return (await fetch(`http://${metrics}/metrics`, { headers: { connection: "close" } })).text();
}

/** The sum of all series of a metric. */
function sumOf(name: string, text: string): number {
  const series = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, "gm"));
  return [...series].reduce((all, [, value]) => all + Number(value), 0);
}

function sqliteBytes(dataDir: string): StoreBytes {
  const read = (sql: string): number => {
    const db = new SqliteConnection(storeFile(dataDir), { readonly: true });
    try {
      return Number(Object.values(db.prepare(sql).get() as Record<string, number>)[0]);
    } finally {
      db.close();
    }
  };
  return {
    // All used pages of the file: also what indexes and free parts of pages take.
    bytes: () => {
      const pages = read("PRAGMA page_count") - read("PRAGMA freelist_count");
      return Promise.resolve(pages * read("PRAGMA page_size"));
    },
    runs: () => Promise.resolve(read("SELECT count(*) FROM aggregates WHERE pipeline_id <> ''")),
    commands: () => null,
    close: () => Promise.resolve(),
  };
}

async function mongoBytes(): Promise<readonly [StoreBytes, Readonly<Record<string, string>>]> {
  const env = (await startMongo()).env();
  const commands = await MongoCommands.start(env["MONGODB_URL"]!);
  // Past the counter.
  const client = await MongoClient.connect(env["MONGODB_URL"]!);
  const database = client.db(env["MONGODB_DATABASE"]);
  const store: StoreBytes = {
    bytes: () => documentBytes(database),
    runs: () => database.collection("aggregates").countDocuments({ "summary.pipelineId": { $ne: "" } }),
    commands: () => commands.count,
    close: async () => {
      commands.close();
      await client.close();
    },
  };
  return [store, { ...env, MONGODB_URL: commands.url }];
}

/** The bytes of all documents, as the program sends them: MongoDB compresses them, and needs room for its indexes. */
async function documentBytes(database: Db): Promise<number> {
  let bytes = 0;
  for (const { name } of await database.listCollections().toArray()) {
    for await (const document of database.collection(name).find()) bytes += BSON.calculateObjectSize(document);
  }
  return bytes;
}
