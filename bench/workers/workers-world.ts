/** An installation of many workers: one edge with a gateway, one agent, a Redis, and the MongoDB of the benchmark. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { leaseKeys } from "../../queues/owned-shard.ts";
import { ProcessWorld, type ServeNode, type StartedProcess } from "../../test/support/processes.ts";
import { startTestRedis, type TestRedis } from "../../test/support/redis.ts";
import { until } from "../../test/support/until.ts";
import { REGISTRATION, startAgent } from "../measure/agent.ts";
import { Api } from "../millrace/api.ts";
import type { Mongo } from "../millrace/mongo.ts";

const TOKEN = "an-administrator-token-for-the-benchmark";
const COUNTER = new URL("../millrace/operation-counter.mjs", import.meta.url).href;
const AGENT_SLOTS = 64;
/** Workers that start at the same time: more would only wait for the cores. */
const STARTS_AT_ONCE = 4;
const BALANCED_MS = 60_000;

export interface WorkersSize {
  readonly workers: number;
  readonly shards: number;
}

/** A worker process and its id in the registry of nodes. */
export interface Worker {
  readonly node: ServeNode;
  readonly nodeId: string;
}

export class WorkersWorld {
  readonly size: WorkersSize;
  readonly redis: TestRedis;
  readonly redisClient: Redis;
  readonly api: Api;
  readonly agent: StartedProcess;
  /** The first one counts its calls. */
  readonly workers: Worker[] = [];
  readonly #world: ProcessWorld;
  readonly #env: Readonly<Record<string, string>>;
  readonly #countsFile: string;

  /** Starts everything but the workers. */
  static async start(size: WorkersSize, mongo: Mongo): Promise<WorkersWorld> {
    const world = await ProcessWorld.create();
    const redis = await startTestRedis();
    try {
      const env = {
        ...mongo.env(),
        REDIS_URL: redis.url,
        MAILBOX_SHARDS: String(size.shards),
        MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
      };
      const front = await world.serve("edge,gateway", { env });
      const agent = await startAgent(world, front.grpc!, AGENT_SLOTS);
      return new WorkersWorld(size, world, redis, front, agent, env);
    } catch (error) {
      await world.end();
      await redis.stop();
      throw error;
    }
  }

  private constructor(
    size: WorkersSize,
    world: ProcessWorld,
    redis: TestRedis,
    front: ServeNode,
    agent: StartedProcess,
    env: Readonly<Record<string, string>>,
  ) {
    this.size = size;
    this.#world = world;
    this.#env = env;
    this.#countsFile = join(world.folder, "operations.json");
    this.redis = redis;
    this.redisClient = new Redis(redis.connection);
    this.agent = agent;
    this.api = new Api(`http://${front.http}`, TOKEN);
  }

  /** Starts workers until all are there. Resolves when they are ready. */
  async startWorkers(): Promise<void> {
    while (this.workers.length < this.size.workers) {
      const missing = this.size.workers - this.workers.length;
      const first = this.workers.length === 0 ? [this.startWorker(this.#countingEnv)] : [];
      const others = Array.from({ length: Math.min(missing, STARTS_AT_ONCE) - first.length }, () => this.startWorker());
      this.workers.push(...(await Promise.all([...first, ...others])));
    }
  }

  /** Starts one more worker, which is not among {@link workers}. Resolves when it is ready. */
  async startWorker(env: Readonly<Record<string, string>> = {}): Promise<Worker> {
    const node = await this.#world.serve("worker", { env: { ...this.#env, ...env } });
    const { nodes } = await this.api.call<{ nodes: { nodeId: string; pid: number }[] }>("GET", "/cluster");
    return { node, nodeId: nodes.find(({ pid }) => pid === node.pid)!.nodeId };
  }

  /** Kills the workers at once, as a power cut does. */
  async kill(workers: readonly Worker[]): Promise<void> {
    for (const { node } of workers) node.kill("SIGKILL");
    this.#remove(workers);
    await Promise.all(workers.map(({ node }) => node.exited));
  }

  /** Stops a worker as an operator does, and starts another one in its place. */
  async replace(worker: Worker): Promise<void> {
    worker.node.kill("SIGTERM");
    const { code } = await worker.node.exited;
    if (code !== 0) throw new Error(`a worker ended with status ${code}: ${worker.node.process.stderr.slice(-2_000)}`);
    this.#remove([worker]);
    this.workers.push(await this.startWorker());
  }

  /** The shards by the node that holds their lease; shards without a holder are missing. */
  async shardsByNode(): Promise<ReadonlyMap<string, readonly number[]>> {
    const shards = Array.from({ length: this.size.shards }, (_, shard) => shard);
    const owners = await this.redisClient.mget(shards.map((shard) => leaseKeys(shard).lease));
    const byNode = new Map<string, number[]>();
    for (const [shard, owner] of owners.entries()) {
      if (owner !== null) byNode.set(owner, [...(byNode.get(owner) ?? []), shard]);
    }
    return byNode;
  }

  /** How many more shards the worker with most has than the one with least; infinite while a shard has no owner. */
  async spread(): Promise<number> {
    const byNode = await this.shardsByNode();
    const loads = this.workers.map(({ nodeId }) => byNode.get(nodeId)?.length ?? 0);
    const owned = loads.reduce((sum, load) => sum + load, 0);
    return owned < this.size.shards ? Infinity : Math.max(...loads) - Math.min(...loads);
  }

  /** Resolves when every shard has an owner, and no worker has two shards more than another. */
  async balanced(): Promise<void> {
    await until("the shards are spread evenly", async () => (await this.spread()) <= 1, BALANCED_MS);
  }

  /** All calls of the first worker until now, by kind. */
  async calls(): Promise<Readonly<Record<string, number>>> {
    const file = this.#countsFile;
    rmSync(file, { force: true });
    this.workers[0]!.node.kill("SIGUSR2");
    await until("the counts of a worker", () => existsSync(file));
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
  }

  async stop(): Promise<void> {
    this.api.close();
    this.redisClient.disconnect();
    await this.#world.end();
    await this.redis.stop();
  }

  get #countingEnv(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${COUNTER}`, BENCH_OPERATIONS: this.#countsFile };
  }

  #remove(workers: readonly Worker[]): void {
    for (const worker of workers) this.workers.splice(this.workers.indexOf(worker), 1);
  }
}
