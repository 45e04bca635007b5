/**
 * A node of the control plane: the one place where adapters are chosen and wired to the roles that need them.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { hostname } from "node:os";
import { Registry } from "prom-client";
import { Kernel } from "../actors/kernel/kernel.ts";
import { RUN_AGGREGATE } from "../actors/run/aggregate.ts";
import type { LetterFormat } from "../queues/envelope.ts";
import { MailboxInspection } from "../queues/mailbox-inspection.ts";
import { MailboxSender } from "../queues/mailbox-sender.ts";
import { type NodeRecord, NodeRegistry } from "../queues/node-registry.ts";
import { ShardOwner } from "../queues/shard-owner.ts";
import { ensureBootstrap } from "./app/bootstrap.ts";
import type { ClusterContext } from "./app/cluster.ts";
import type { AppContext } from "./app/context.ts";
import { storeFile } from "./cli/data-dir.ts";
import { killAtExit } from "./cli/kill-at-exit.ts";
import { endWithUs } from "./cli/lifeline.ts";
import { bindingAddress, listen, reachableAddress } from "./cli/listen.ts";
import { packageVersion } from "./cli/package-root.ts";
import { registerClusterMetrics, registerWorkerMetrics } from "./cli/plane-metrics.ts";
import { keptSigningKey } from "./cli/signing-key.ts";
import { Teardown } from "./cli/teardown.ts";
import type { ControlPlaneConfig } from "./config.ts";
import { RedisBoard } from "./dispatch/redis-board.ts";
import { RedisPresence } from "./dispatch/redis-presence.ts";
import { type Clock, systemClock } from "./domain/clock.ts";
import { MillraceError } from "./domain/errors.ts";
import type { Logger } from "./domain/logger.ts";
import { RedisFeed } from "./feed/redis-feed.ts";
import { createGrpcServer } from "./grpc/server.ts";
import type { ReadinessChecks } from "./http/health.ts";
import { createMetricsServer } from "./http/metrics-server.ts";
import { createHttpServer } from "./http/server.ts";
import { checkRedis, connectRedis, type RedisTarget } from "./redis/connect.ts";
import { startEmbeddedRedis } from "./redis/embedded.ts";
import { openMongoStores } from "./stores/mongo/open.ts";
import { type RepairReport, repairRestored } from "./stores/mongo/repair.ts";
import { SchemaSwitch } from "./stores/schema-switch.ts";
import { openSqliteStores } from "./stores/sqlite/open.ts";
import { STORED_FORMAT, type StoredFormat } from "./stores/stored-format.ts";
import type { Stores } from "./stores/stores.ts";
import { versionedAggregates } from "./stores/versioned-aggregates.ts";
import { versionedPlans } from "./stores/versioned-plans.ts";
import { attachWebSocketGateway } from "./ws/gateway.ts";

const HTTP_GRACE_MS = 5_000;
const GRPC_GRACE_MS = 3_000;

export interface ControlPlaneOptions {
  /** Exists, when SQLite or an embedded Redis is used; whoever starts an embedded Redis has claimed it. */
  readonly dataDir: string;
  readonly log: Logger;
  /** Told of each part as it becomes ready. */
  readonly onReady: (part: string, how: string) => void;
  readonly signal: AbortSignal;
  /** Stands for that of another release, in tests of upgrades. */
  readonly format?: StoredFormat;
}

export interface ControlPlane {
  readonly context: AppContext;
  /** `host:port` to connect to, of each listener; null without the role. */
  readonly http: string | null;
  readonly grpc: string | null;
  readonly metrics: string;
  /** The administrator's token when this start made it: the only time that it is seen. */
  readonly adminToken: string | null;
  /** Edges first, then gateway, owner of shards, feed, Redis, store. Idempotent; never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts the roles of `config`. When a part fails, or `signal` is aborted, it ends what it has started and rejects: with
 * the signal's reason, `conflict` for a port in use, another number of shards than the deployment's or a
 * deployment of versions that do not go with this one, `unavailable` for a store or a Redis that cannot be used.
 */
export async function startControlPlane(
  config: ControlPlaneConfig,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const teardown = new Teardown(options.log);
  try {
    return await startParts(config, options, teardown);
  } catch (error) {
    await teardown.end();
    throw error;
  }
}

/**
 * Makes a MongoDB database whole that was restored from a dump; see {@link repairRestored}. Rejects with `conflict` while
 * a node lives, with `unavailable` when MongoDB or Redis cannot be reached. Safe to repeat.
 */
export async function repairStore(
  config: ControlPlaneConfig & { readonly mongodb: NonNullable<ControlPlaneConfig["mongodb"]> },
  log: Logger,
): Promise<RepairReport> {
  if (config.redis !== null) await refuseLivingNodes(config, config.redis, log);
  return repairRestored(config.mongodb);
}

async function refuseLivingNodes(config: ControlPlaneConfig, target: RedisTarget, log: Logger): Promise<void> {
  const redis = connectRedis(target, { role: "edge", log });
  try {
    // Asks, and is never announced itself.
    const nodes = new NodeRegistry({ redis, record: nodeRecord("", config, systemClock, STORED_FORMAT), log });
    const [living] = await nodes.list();
    if (living === undefined) return;
    throw new MillraceError("conflict", `a node lives (pid ${living.pid} on ${living.host}): stop all nodes first`);
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw new MillraceError("unavailable", "Redis cannot be asked whether a node lives: check REDIS_URL", {
      cause: error,
    });
  } finally {
    redis.disconnect();
  }
}

async function startParts(
  config: ControlPlaneConfig,
  { dataDir, log, onReady, signal, format = STORED_FORMAT }: ControlPlaneOptions,
  teardown: Teardown,
): Promise<ControlPlane> {
  const ready = (part: string, how: string) => {
    onReady(part, how);
    signal.throwIfAborted();
  };
  const has = (role: (typeof config.roles)[number]) => config.roles.includes(role);

  const adapters = await openStores(config, dataDir);
  teardown.add("the store", () => adapters.close());
  await fixShards(adapters, config.shards);
  ready("store", config.mongodb === null ? "ready (SQLite)" : "ready (MongoDB)");

  const target = config.redis ?? (await startRedis(dataDir, log, teardown));
  const redis = connectRedis(target, { role: "edge", log });
  teardown.add("the connection to Redis", () => redis.disconnect());
  await checkRedis(redis, log);
  ready("Redis", config.redis === null ? "ready (private server)" : "ready");

  const clock = systemClock;
  const nodeId = randomUUID();
  const nodes = new NodeRegistry({ redis, record: nodeRecord(nodeId, config, clock, format), log });
  // Withdrawn when all roles have ended: until then this node counts for the others.
  teardown.add("the registry of nodes", () => nodes.stop());
  await nodes.start();
  const readers = async () => (await nodes.list()).map(({ schema }) => schema);
  const { shards } = adapters;
  const schemaSwitch = await SchemaSwitch.join({ schema: format.schema, readers, shards, log });
  teardown.add("the switch of schemas", () => schemaSwitch.stop());
  const { writes } = schemaSwitch;
  const stores: Stores = {
    ...adapters,
    aggregates: versionedAggregates(adapters.aggregates, format, writes),
    plans: versionedPlans(adapters.plans, format, writes),
  };
  const letters = letterFormat(format, writes);
  const feed = new RedisFeed({ publisher: redis, subscriber: connectRedis(target, { role: "subscriber", log }), log });
  teardown.add("the feed", () => feed.close());
  const mailboxes = new MailboxSender({ redis, shards: config.shards, format: letters });
  teardown.add("the mailbox sender", () => mailboxes.close());
  const inspection = new MailboxInspection({ redis, shards: config.shards });
  teardown.add("the inspection of mailboxes", () => inspection.close());
  const board = new RedisBoard({ redis, feed, clock });
  const presence = new RedisPresence(redis);
  const context: ClusterContext = {
    stores,
    feed,
    mailboxes,
    board,
    presence,
    nodes,
    inspection,
    clock,
    log,
    shards: config.shards,
    eventNamespace: config.eventNamespace,
    signingKey: await signingKeyOf(config, dataDir),
  };
  const { adminToken } = await ensureBootstrap(context, {
    ...(config.bootstrapToken === null ? {} : { token: config.bootstrapToken }),
    ...(config.registrationToken === null ? {} : { registrationToken: config.registrationToken }),
  });

  const registry = new Registry();
  registerClusterMetrics(registry, context);
  const readiness: Record<string, () => Promise<void>> = { redis: () => redis.ping().then(() => {}) };
  const metricsServer = createMetricsServer(registry);
  const metrics = await listen(metricsServer, config.metrics, "MILLRACE_METRICS_ADDRESS");
  teardown.add("the metrics listener", () => closeServer(metricsServer, 0));

  if (has("worker")) {
    const owner = await startWorker(config, context, { nodeId, redis: target, registry, letters }, teardown);
    readiness["mailboxes"] = () => healthy(owner);
    ready("worker", "ready");
  }
  const grpc = has("gateway") ? await startGateway(config, context, teardown) : null;
  if (grpc !== null) ready("gateway", `listens on ${grpc}`);
  const http = has("edge") ? await startEdge(config, context, { registry, readiness }, teardown) : null;
  if (http !== null) ready("edge", `listens on ${http}`);

  return { context, http, grpc, metrics, adminToken, stop: () => teardown.end() };
}

function nodeRecord(nodeId: string, { roles }: ControlPlaneConfig, clock: Clock, { schema }: StoredFormat): NodeRecord {
  const version = packageVersion();
  return {
    nodeId,
    roles,
    version,
    host: hostname(),
    pid: process.pid,
    startedAt: clock.now(),
    schema,
  };
}

function openStores(config: ControlPlaneConfig, dataDir: string): Promise<Stores> {
  return config.mongodb === null
    ? openSqliteStores({ path: storeFile(dataDir), limitBytes: config.storeLimit })
    : openMongoStores(config.mongodb);
}

/** Mailboxes are found by hash: with another number of shards, runs would wait in mailboxes that nobody reads. */
async function fixShards(stores: Stores, shards: number): Promise<void> {
  const stored = await stores.shards.fixSetting("MAILBOX_SHARDS", String(shards));
  if (stored !== String(shards)) {
    throw new MillraceError(
      "conflict",
      `MAILBOX_SHARDS is ${shards}, but this deployment was made with ${stored}, which cannot change: set it to ${stored}`,
    );
  }
}

async function signingKeyOf({ signingKey, mongodb }: ControlPlaneConfig, dataDir: string): Promise<Uint8Array> {
  if (signingKey !== null) return signingKey;
  // With MongoDB the key is required of every node but those that neither sign nor check a token.
  return mongodb === null ? keptSigningKey(dataDir) : randomBytes(32);
}

async function startRedis(dataDir: string, log: Logger, teardown: Teardown): Promise<RedisTarget> {
  const server = await startEmbeddedRedis({ dataDir, log });
  const forget = [killAtExit(server.pid), endWithUs(server.pid)];
  teardown.add("Redis", async () => {
    await server.stop();
    for (const step of forget) step();
  });
  return { url: server.url };
}

function letterFormat(format: StoredFormat, writes: () => number): LetterFormat {
  return {
    schema: format.schema,
    writes,
    read: (letter, schema) => format.read("letter", letter, schema),
    write: (letter, schema) => format.write("letter", letter, schema),
  };
}

interface WorkerParts {
  readonly nodeId: string;
  readonly redis: RedisTarget;
  readonly registry: Registry;
  readonly letters: LetterFormat;
}

async function startWorker(
  config: ControlPlaneConfig,
  context: AppContext,
  { nodeId, redis, registry, letters }: WorkerParts,
  teardown: Teardown,
): Promise<ShardOwner> {
  const { stores, log } = context;
  const kernel = new Kernel({ ...context, type: RUN_AGGREGATE });
  teardown.add("the kernel", () => kernel.stop());
  const owner = new ShardOwner({
    redis,
    nodeId,
    shards: config.shards,
    handler: kernel,
    epochs: stores.shards,
    format: letters,
    log,
  });
  await owner.start();
  teardown.add("the owner of shards", () => owner.stop());
  registerWorkerMetrics(registry, { counters: kernel.counters, owned: () => owner.owned() });
  return owner;
}

async function startGateway(config: ControlPlaneConfig, context: AppContext, teardown: Teardown): Promise<string> {
  const server = createGrpcServer(context);
  const { host } = config.grpc;
  const port = await server.start(bindingAddress(config.grpc));
  teardown.add("the gateway", () => server.stop(GRPC_GRACE_MS));
  return reachableAddress({ host, port });
}

async function startEdge(
  config: ControlPlaneConfig,
  context: ClusterContext,
  options: { readonly registry: Registry; readonly readiness: ReadinessChecks },
  teardown: Teardown,
): Promise<string> {
  const { server, app } = createHttpServer(context, options);
  const address = await listen(server, config.http, "MILLRACE_HTTP_ADDRESS");
  // Only now: it would take a port in use for an error of its own. Nothing is accepted before this turn ends.
  const viewers = attachWebSocketGateway(context, { server, app, registry: options.registry });
  teardown.add("the edge", async () => {
    // Together: the server counts viewers among its connections.
    await Promise.all([closeServer(server, HTTP_GRACE_MS), viewers.close()]);
  });
  return address;
}

/** Accepts nothing more; requests in flight get `graceMs` to end. */
async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

/** Rejects when a mailbox of this node does not carry mail. */
function healthy(owner: ShardOwner): Promise<void> {
  const stuck = owner.health().filter(({ ok }) => !ok);
  if (stuck.length === 0) return Promise.resolve();
  return Promise.reject(new Error(`no mail gets through on shards ${stuck.map(({ shard }) => shard).join(", ")}`));
}
