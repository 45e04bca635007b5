/** An installation for a fleet of agents: an edge with a worker, two gateways, a Redis, and pipelines in many projects. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Redis } from "ioredis";
import { asId, newId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import { storeFile } from "../../src/node/data-dir.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { freePort } from "../../test/support/ports.ts";
import { ProcessWorld, type ServeNode } from "../../test/support/processes.ts";
import { startTestRedis, type TestRedis } from "../../test/support/redis.ts";
import { REGISTRATION } from "../measure/agent.ts";
import { Api } from "../millrace/api.ts";

const TOKEN = "an-administrator-token-for-the-benchmark";

export const GATEWAYS = 2;

export class FleetWorld {
  readonly redis: TestRedis;
  readonly redisClient: Redis;
  readonly api: Api;
  readonly node: ServeNode;
  readonly gateways: ServeNode[] = [];
  readonly addresses: readonly string[];
  readonly #world: ProcessWorld;
  readonly #env: Readonly<Record<string, string>>;

  /** Starts everything but the gateways. `env` is added to the environment of each node. */
  static async start(
    folder: string,
    pipelines: readonly NewPipeline[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<FleetWorld> {
    const dataDir = join(folder, "data");
    await storePipelines(dataDir, pipelines);
    const world = await ProcessWorld.create();
    const redis = await startTestRedis();
    const nodeEnv = {
      MILLRACE_DATA_DIR: dataDir,
      REDIS_URL: redis.url,
      MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
      MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
      ...env,
    };
    const node = await world.serve("edge,worker", { env: nodeEnv });
    const addresses: string[] = [];
    for (let at = 0; at < GATEWAYS; at++) addresses.push(`127.0.0.1:${await freePort()}`);
    return new FleetWorld(world, redis, node, addresses, nodeEnv);
  }

  private constructor(
    world: ProcessWorld,
    redis: TestRedis,
    node: ServeNode,
    addresses: readonly string[],
    env: Readonly<Record<string, string>>,
  ) {
    this.#world = world;
    this.#env = env;
    this.redis = redis;
    this.redisClient = new Redis(redis.connection);
    this.node = node;
    this.addresses = addresses;
    this.api = new Api(`http://${node.http}`, TOKEN);
  }

  /** Starts all gateways on their addresses. */
  async startGateways(): Promise<void> {
    const env = (address: string) => ({ ...this.#env, MILLRACE_GRPC_ADDRESS: address });
    const started = this.addresses.map((address) => this.#world.serve("gateway", { env: env(address) }));
    this.gateways.splice(0, GATEWAYS, ...(await Promise.all(started)));
  }

  /** Kills all gateways at once, as a power cut does. */
  async killGateways(): Promise<void> {
    for (const gateway of this.gateways) gateway.kill("SIGKILL");
    await Promise.all(this.gateways.map(({ exited }) => exited));
  }

  async stop(): Promise<void> {
    this.api.close();
    this.redisClient.disconnect();
    await this.#world.end();
    await this.redis.stop();
  }
}

export interface NewPipeline {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
}

/** A pipeline in a project of its own. */
export function pipelineOfProject(name: string): NewPipeline {
  return { pipelineId: newId("pl"), projectId: asId<ProjectId>(`prj_${name}`) };
}

/** No call makes projects yet, so the pipelines are put into the store. */
async function storePipelines(dataDir: string, pipelines: readonly NewPipeline[]): Promise<void> {
  const path = storeFile(dataDir);
  await mkdir(dirname(path), { recursive: true });
  const stores = await openSqliteStores({ path });
  try {
    const texts = { description: "", repoUrl: "", defaultBranch: "", pipelineFilePath: "", prTargetBranch: "" };
    const now = Date.now();
    for (const { pipelineId, projectId } of pipelines) {
      await stores.pipelines.create({
        ...texts,
        saveMode: "direct",
        metadata: [],
        createdBy: "",
        actor: "",
        headRevisionId: null,
        pipelineId,
        projectId,
        name: pipelineId,
        createdAt: now,
        updatedAt: now,
      });
    }
  } finally {
    await stores.close();
  }
}
