/** An installation whose edges and workers die during the races: a gateway with an agent, two edges, and two workers. */
import { join } from "node:path";
import { ApiClient } from "../../src/cli/api-client.ts";
import { freePort } from "../support/ports.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
const SLOTS = 12;

export class RaceWorld {
  readonly authorization = `Bearer ${ADMIN}`;
  /** Of the gateway's node, which is an edge too and never dies. */
  readonly api: ApiClient;
  readonly #baseUrl: string;
  /** `host:port` of the edges that die. They keep their addresses. */
  readonly edges: readonly string[];
  readonly #world: ProcessWorld;
  readonly #redis: TestRedis;
  readonly #env: Readonly<Record<string, string>>;
  readonly #edgeNodes: ServeNode[] = [];
  readonly #workers: ServeNode[] = [];

  static async start(): Promise<RaceWorld> {
    const world = await ProcessWorld.create();
    const redis = await startTestRedis();
    const env = {
      REDIS_URL: redis.url,
      MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
      MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
    };
    const front = await world.serve("edge,gateway", { env });
    const edges = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const races = new RaceWorld(world, redis, env, front, edges);
    await Promise.all([...edges.map((_, at) => races.#startEdge(at)), races.#startWorker(0), races.#startWorker(1)]);
    const agent = world.agent(front.grpc!, {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        MILLRACE_AGENT_SLOTS: String(SLOTS),
        MILLRACE_DATA_DIR: join(world.folder, "agent"),
        LOG_LEVEL: "info",
      },
    });
    await agent.prints('"msg":"ready"');
    return races;
  }

  private constructor(
    world: ProcessWorld,
    redis: TestRedis,
    env: Readonly<Record<string, string>>,
    front: ServeNode,
    edges: readonly string[],
  ) {
    this.#world = world;
    this.#redis = redis;
    this.#env = env;
    this.edges = edges;
    this.#baseUrl = `http://${front.http}`;
    this.api = new ApiClient({ baseUrl: this.#baseUrl, token: () => Promise.resolve(ADMIN) });
  }

  /** Kills an edge and starts it again at its address. */
  async restartEdge(at: number): Promise<void> {
    await kill(this.#edgeNodes[at]!);
    await this.#startEdge(at);
  }

  /** Kills a worker, so that the other one takes its shards over, and starts another one, which takes some of them. */
  async replaceWorker(at: number): Promise<void> {
    await kill(this.#workers[at]!);
    await this.#startWorker(at);
  }

  /** Reads what the gateway's node answers to a GET below `/api/v1`. */
  async read<T>(path: string): Promise<T> {
    const answer = await fetch(`${this.#baseUrl}/api/v1${path}`, { headers: { authorization: this.authorization } });
    const body = (await answer.json()) as { readonly detail: T };
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(body)}`);
    return body.detail;
  }

  async stop(): Promise<void> {
    await this.#world.end();
    await this.#redis.stop();
  }

  async #startEdge(at: number): Promise<void> {
    const env = { ...this.#env, MILLRACE_HTTP_ADDRESS: this.edges[at]! };
    this.#edgeNodes[at] = await this.#world.serve("edge", { env });
  }

  async #startWorker(at: number): Promise<void> {
    this.#workers[at] = await this.#world.serve("worker", { env: this.#env });
  }
}

async function kill(node: ServeNode): Promise<void> {
  node.kill("SIGKILL");
  await node.exited;
}
