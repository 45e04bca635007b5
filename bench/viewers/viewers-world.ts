/** An installation with many viewers: a worker with the gateway, two edges, a Redis, and an agent with many slots. */
import { join } from "node:path";
import { freePort } from "../../test/support/ports.ts";
import { ProcessWorld, type ServeNode } from "../../test/support/processes.ts";
import { startTestRedis, type TestRedis } from "../../test/support/redis.ts";
import { REGISTRATION, startAgent } from "../measure/agent.ts";
import { Api } from "../millrace/api.ts";
import { TOKEN } from "../millrace/installation.ts";

const EDGES = 2;

export class ViewersWorld {
  readonly edges: readonly ServeNode[];
  /** Calls the edge that stays. */
  readonly api: Api;
  readonly dataDir: string;
  /** The processes of the installation, by their parts. */
  readonly pids: Readonly<Record<string, readonly number[]>>;
  readonly #world: ProcessWorld;
  readonly #redis: TestRedis;

  /** `slots`: how many steps the agent runs at once. */
  static async start(folder: string, slots: number): Promise<ViewersWorld> {
    const world = await ProcessWorld.create();
    const redis = await startTestRedis();
    const dataDir = join(folder, "data");
    const env = {
      MILLRACE_DATA_DIR: dataDir,
      REDIS_URL: redis.url,
      MILLRACE_GRPC_ADDRESS: `127.0.0.1:${await freePort()}`,
      MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
      MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
    };
    try {
      const node = await world.serve("worker,gateway", { env });
      const edges: ServeNode[] = [];
      for (let at = 0; at < EDGES; at++) edges.push(await world.serve("edge", { env }));
      const agent = await startAgent(world, node.grpc!, slots);
      const pids = { "worker and gateway": [node.pid], edges: edges.map(({ pid }) => pid), agent: [agent.pid] };
      return new ViewersWorld(world, redis, edges, dataDir, pids);
    } catch (error) {
      await world.end();
      await redis.stop();
      throw error;
    }
  }

  private constructor(
    world: ProcessWorld,
    redis: TestRedis,
    edges: readonly ServeNode[],
    dataDir: string,
    pids: ViewersWorld["pids"],
  ) {
    this.#world = world;
    this.#redis = redis;
    this.edges = edges;
    this.dataDir = dataDir;
    this.pids = pids;
    this.api = new Api(`http://${edges.at(-1)!.http}`, TOKEN);
  }

  async stop(): Promise<void> {
    this.api.close();
    await this.#world.end();
    await this.#redis.stop();
  }
}
