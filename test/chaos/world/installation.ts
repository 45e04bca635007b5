/**
 * A whole installation of real processes on this machine. Either workers, gateways, edges and agents over a Redis with
 * an append-only file and a MongoDB-wire server, or the embedded default in one process. Every connection that a
 * scenario disturbs runs through a proxy.
 */
import { join } from "node:path";
import type { RedisTarget } from "../../../src/redis/connect.ts";
import { openMongoStores } from "../../../src/stores/mongo/open.ts";
import { STORED_FORMAT, type StoredFormat } from "../../../src/stores/format/stored-format.ts";
import { openSqliteStores } from "../../../src/stores/sqlite/open.ts";
import type { Verification } from "../../../src/app/verification/verify-stores.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { freshDatabase, startTestMongo } from "../../support/mongo.ts";
import { freePort } from "../../support/ports.ts";
import { ProcessWorld, type StartedProcess, type StartOptions } from "../../support/processes.ts";
import { startTestRedisCluster, type TestRedisCluster } from "../../support/redis-cluster.ts";
import { startTestRedis, type TestRedis } from "../../support/redis.ts";
import { type Mirror, startMirror } from "./mirror.ts";
import { INSPECTED } from "./inspected-memory.ts";
import { Node } from "./node.ts";
import { mountSmallDisk, type SmallDisk } from "../../support/small-disk.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

export interface Shape {
  /**
   * `scaled`: several processes over Redis and a MongoDB-wire server. `shared`: several processes over Redis and one
   * SQLite file, for amounts of work for which the MongoDB server of the tests is too slow. `clustered`: as `shared`,
   * over a Redis Cluster of three masters. `embedded`: one process with its private Redis and SQLite.
   */
  readonly engine: "scaled" | "shared" | "clustered" | "embedded";
  readonly workers: number;
  readonly gateways: number;
  readonly edges: number;
  readonly agents: number;
  /**
   * Delay of every answer of MongoDB, in milliseconds. With a delay, a process that is killed at a random moment is
   * mostly in the middle of its work: the store has saved a change, and the process has not yet read the answer.
   */
  readonly storeDelayMs?: number;
  /** True when each node has networks of its own, so that one alone can be parted from Redis or from the store. */
  readonly hasOwnLinks?: boolean;
  /** True when the memory of the workers is looked at from outside. */
  readonly areWorkersInspected?: boolean;
  /** The size of the disk that holds the data directory of the nodes; absent for that of the machine. */
  readonly diskMebibytes?: number;
  /** Disk space of each agent for log lines that it cannot send: less than the step that floods needs. */
  readonly logBuffer?: string;
}

/** A node of the control plane, with the networks between it and its servers. */
export interface ServerNode extends Node {
  /** Null in an installation whose nodes share their networks. */
  readonly links: Links | null;
}

export interface Links {
  readonly redis: TcpProxy;
  /** Leads to the network that all nodes share, so that a fault of the store meets this node too. */
  readonly store: TcpProxy;
}

/** How a guest differs from the other nodes. */
export interface GuestOptions {
  readonly roles?: string;
  /** How far the clock of the guest is ahead of the machine's. */
  readonly clockAheadMs?: number;
  /** True for a node of an imagined next release, for which all other nodes are those of the previous one. */
  readonly isOfNextRelease?: boolean;
}

/** An agent, and the network between it and its gateway. */
export interface AgentNode extends Node {
  readonly network: TcpProxy;
  /** Value of the agent's label `seat`, counted from 1. Two neighbouring seats share the label `bench`. */
  readonly seat: number;
}

/** The number of a new installation. */
export const SHARDS = 64;
export const ADMIN_TOKEN = "an-administrator-token-for-these-tests-only";
const REGISTRATION_TOKEN = "a-registration-token-for-these-tests-only";
const SIGNING_KEY = "0123456789abcdef0123456789abcdef";
const MASTER_KEY = "0123456789abcdef".repeat(4);
const SLOTS = 4;

const SHIFTED_CLOCK = new URL("../../support/shifted-clock.mjs", import.meta.url).href;
const NEXT_RELEASE = "test/e2e/next-version.ts";

function envOf(links: Links | null): Readonly<Record<string, string>> {
  if (links === null) return {};
  return {
    REDIS_URL: `redis://127.0.0.1:${links.redis.port}`,
    MONGODB_URL: `mongodb://127.0.0.1:${links.store.port}`,
  };
}

export class Installation {
  readonly shape: Shape;
  readonly workers: readonly ServerNode[];
  readonly gateways: readonly ServerNode[];
  readonly edges: readonly ServerNode[];
  readonly agents: readonly AgentNode[];
  /** `http://host:port` of every edge. */
  readonly urls: readonly string[];
  /** `host:port` of the gRPC listener of every gateway. */
  readonly gatewayAddresses: readonly string[];
  /** Null with a Redis Cluster, and with the embedded engine, whose Redis is private. */
  readonly redis: TestRedis | null;
  readonly cluster: TestRedisCluster | null;
  /** Null where SQLite is the store. */
  readonly mongo: TcpProxy | null;
  /** The MongoDB database, reached without the proxy. Null where SQLite is the store. */
  readonly mongoDatabase: { readonly url: string; readonly name: string } | null;
  /** A server that answers with the request's body. */
  readonly mirror: Mirror;
  /** The format that the newest node of the installation stores. */
  readonly format: StoredFormat = STORED_FORMAT;
  /** The store, reached without any proxy. */
  readonly stores: Stores;
  /** Path of the file to which steps write their marks. */
  readonly ledger: string;
  readonly #world: ProcessWorld;
  readonly #env: Readonly<Record<string, string>>;
  readonly #guests: Node[] = [];
  readonly #links: readonly Links[];
  readonly #disk: SmallDisk | null;
  #storeLimit: string | null = null;

  private constructor(parts: {
    readonly shape: Shape;
    readonly world: ProcessWorld;
    readonly env: Readonly<Record<string, string>>;
    readonly redis: TestRedis | null;
    readonly cluster: TestRedisCluster | null;
    readonly mongo: TcpProxy | null;
    readonly mongoDatabase: { readonly url: string; readonly name: string } | null;
    readonly mirror: Mirror;
    readonly stores: Stores;
    readonly ports: readonly { readonly http: number; readonly grpc: number }[];
    readonly networks: readonly TcpProxy[];
    readonly links: readonly Links[];
    readonly disk: SmallDisk | null;
  }) {
    const { shape, world, env, ports } = parts;
    const unused = [...parts.links];
    this.shape = shape;
    this.#world = world;
    this.#env = env;
    this.redis = parts.redis;
    this.cluster = parts.cluster;
    this.mongo = parts.mongo;
    this.mongoDatabase = parts.mongoDatabase;
    this.mirror = parts.mirror;
    this.stores = parts.stores;
    this.#links = parts.links;
    this.#disk = parts.disk;
    this.ledger = join(world.folder, "ledger");
    const place = (at: number) => ports[at % ports.length]!;
    const nodes = (role: string, count: number): readonly ServerNode[] =>
      Array.from({ length: count }, (_, at) => {
        const links = unused.pop() ?? null;
        const inspected = role === "worker" && shape.areWorkersInspected === true ? INSPECTED : {};
        const env = { ...envOf(links), ...inspected };
        const node = new Node(`${role}-${at + 1}`, () => this.#serve(role, place(at), env));
        return Object.assign(node, { links });
      });
    if (shape.engine === "embedded") {
      const node = new Node("node-1", () => this.#serve("edge,gateway,worker", place(0)));
      const everything: ServerNode = Object.assign(node, { links: null });
      this.workers = this.gateways = this.edges = [everything];
    } else {
      this.workers = nodes("worker", shape.workers);
      this.gateways = nodes("gateway", shape.gateways);
      this.edges = nodes("edge", shape.edges);
    }
    this.urls = this.edges.map((_, at) => `http://127.0.0.1:${place(at).http}`);
    this.gatewayAddresses = this.gateways.map((_, at) => `127.0.0.1:${place(at).grpc}`);
    this.agents = parts.networks.map((network, at): AgentNode => {
      const node = new Node(`agent-${at + 1}`, () => this.#serveAgent(at + 1, network));
      return Object.assign(node, { network, seat: at + 1 });
    });
  }

  /** Resolves when every process is ready. */
  static async start(shape: Shape): Promise<Installation> {
    const world = await ProcessWorld.create();
    const isEmbedded = shape.engine === "embedded";
    const disk =
      shape.diskMebibytes === undefined ? null : await mountSmallDisk(join(world.folder, "data"), shape.diskMebibytes);
    const cluster = shape.engine === "clustered" ? await startTestRedisCluster() : null;
    const redis = isEmbedded || cluster ? null : await startTestRedis({ appendonly: true, fsync: "everysec" });
    const server = shape.engine === "scaled" ? await startTestMongo() : null;
    const mongo = server === null ? null : await TcpProxy.start(Number(new URL(server.url).port));
    const database = freshDatabase();
    const env: Record<string, string> = {
      MILLRACE_DATA_DIR: join(world.folder, "data"),
      MAILBOX_SHARDS: String(SHARDS),
      MILLRACE_SIGNING_KEY: SIGNING_KEY,
      MILLRACE_MASTER_KEY: MASTER_KEY,
      MILLRACE_BOOTSTRAP_TOKEN: ADMIN_TOKEN,
      MILLRACE_REGISTRATION_TOKEN: REGISTRATION_TOKEN,
      // The receiver of webhooks, and the host of the repository.
      MILLRACE_OUTGOING_NETWORKS: "127.0.0.1",
      MILLRACE_GIT_NETWORKS: "127.0.0.0/8",
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
      ...(cluster === null ? {} : { REDIS_CLUSTER_NODES: cluster.addresses }),
      ...(mongo === null ? {} : { MONGODB_URL: `mongodb://127.0.0.1:${mongo.port}`, MONGODB_DATABASE: database }),
    };
    const places = isEmbedded ? 1 : Math.max(shape.edges, shape.gateways);
    const ports = await Promise.all(
      Array.from({ length: places }, async () => ({ http: await freePort(), grpc: await freePort() })),
    );
    const networks = await Promise.all(
      Array.from({ length: shape.agents }, (_, at) =>
        TcpProxy.start(ports[at % (isEmbedded ? 1 : shape.gateways)]!.grpc),
      ),
    );
    const count = shape.hasOwnLinks === true ? shape.workers + shape.gateways + shape.edges : 0;
    const links = await Promise.all(
      Array.from({ length: count }, async (): Promise<Links> => {
        return { redis: await TcpProxy.start(redis!.port), store: await TcpProxy.start(mongo!.port) };
      }),
    );
    const openStores = async () =>
      server === null
        ? openSqliteStores({ path: join(world.folder, "data", "millrace.db") })
        : openMongoStores({ url: server.url, database });
    const stores = await openStores();
    const mongoDatabase = server === null ? null : { url: server.url, name: database };
    const mirror = await startMirror();
    const servers = { redis, cluster, mongo, mongoDatabase, mirror };
    const installation = new Installation({ shape, world, env, ...servers, stores, ports, networks, links, disk });
    try {
      // One node starts first: the first start of a deployment creates the records that all other nodes read.
      const [first, ...others] = new Set([...installation.edges, ...installation.gateways, ...installation.workers]);
      await first!.start();
      await Promise.all([...others, ...installation.agents].map((node) => node.start()));
      installation.restoreStoreSpeed();
      return installation;
    } catch (error) {
      await installation.end();
      throw error;
    }
  }

  /** The folder that holds the files of all processes. */
  get folder(): string {
    return this.#world.folder;
  }

  /** The SQLite file, where SQLite is the store. */
  get storeFile(): string {
    return join(this.folder, "data", "millrace.db");
  }

  /**
   * Sets the upper bound of the SQLite file, such as `3MB`, for nodes that start from now on. Null removes the bound.
   */
  limitStore(limit: string | null): void {
    this.#storeLimit = limit;
  }

  /** Sets MongoDB back to the delay that the shape asks for. */
  restoreStoreSpeed(): void {
    this.mongo?.slowDown(this.shape.storeDelayMs ?? 0);
  }

  /** Starts one more node, a worker unless `roles` says otherwise. `end` ends it unless the caller has. */
  async addGuest({ roles = "worker", clockAheadMs = 0, isOfNextRelease = false }: GuestOptions = {}): Promise<Node> {
    const clock = {
      NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
      MILLRACE_TEST_CLOCK_OFFSET_MS: String(clockAheadMs),
    };
    const env = clockAheadMs === 0 ? {} : clock;
    const program = isOfNextRelease ? { program: NEXT_RELEASE } : {};
    const guest = new Node(`guest-${this.#guests.length + 1}`, () => this.#serve(roles, null, env, program));
    this.#guests.push(guest);
    await guest.start();
    return guest;
  }

  /** What `millrace verify` finds in the store and in Redis, as sentences; empty when all of it agrees. */
  async verify(): Promise<readonly string[]> {
    const verify = this.#world.start(["verify", "--json"], { env: this.#env });
    const { code } = await verify.exited;
    try {
      const { differences, more } = JSON.parse(verify.stdout) as Verification;
      const texts = differences.map(({ kind, object, text }) => `${kind}: ${object} ${text}`);
      return more ? [...texts, "more objects differ"] : texts;
    } catch {
      return [`it ended with ${code} instead of an answer: ${verify.stdout}${verify.stderr}`];
    }
  }

  /** Every process of the installation once, guests and agents included. */
  get nodes(): readonly Node[] {
    const unique = new Set([...this.edges, ...this.gateways, ...this.workers, ...this.#guests, ...this.agents]);
    return [...unique];
  }

  /** Null with the embedded engine: other processes cannot reach its private Redis. */
  get redisTarget(): RedisTarget | null {
    if (this.redis !== null) return { url: this.redis.url };
    if (this.cluster === null) return null;
    return { cluster: this.cluster.nodes.map(({ port }) => ({ host: "127.0.0.1", port })) };
  }

  /** Kills all processes and removes all files. */
  async end(): Promise<void> {
    await this.#disk?.end();
    await this.#world.end();
    await this.stores.close();
    await this.redis?.stop();
    await this.cluster?.stop();
    await Promise.all(this.agents.map(({ network }) => network.close()));
    await Promise.all(this.#links.flatMap(({ redis, store }) => [redis.close(), store.close()]));
    await this.mongo?.close();
    await this.mirror.close();
  }

  async #serve(
    roles: string,
    place: { readonly http: number; readonly grpc: number } | null,
    env: Readonly<Record<string, string>> = {},
    program: Pick<StartOptions, "program"> = {},
  ): Promise<StartedProcess> {
    const addresses =
      place === null
        ? {}
        : { MILLRACE_HTTP_ADDRESS: `127.0.0.1:${place.http}`, MILLRACE_GRPC_ADDRESS: `127.0.0.1:${place.grpc}` };
    const limit = this.#storeLimit === null ? {} : { MILLRACE_STORE_LIMIT: this.#storeLimit };
    const all = { ...this.#env, ...addresses, ...limit, ...env };
    return (await this.#world.serve(roles, { env: all, ...program })).process;
  }

  async #serveAgent(seat: number, network: TcpProxy): Promise<StartedProcess> {
    const agent = this.#world.agent(`127.0.0.1:${network.port}`, {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION_TOKEN,
        MILLRACE_AGENT_NAME: `agent-${seat}`,
        MILLRACE_AGENT_SLOTS: String(SLOTS),
        ...(this.shape.logBuffer === undefined ? {} : { MILLRACE_AGENT_LOG_BUFFER: this.shape.logBuffer }),
        MILLRACE_AGENT_LABELS: `seat=${seat},bench=${Math.ceil(seat / 2)}`,
        MILLRACE_DATA_DIR: join(this.#world.folder, `agent-${seat}`),
      },
    });
    await agent.prints('"msg":"ready"');
    return agent;
  }
}
