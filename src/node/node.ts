/**
 * Starts a node, one process of the control plane. This is the only place that chooses adapters and connects them to
 * the roles.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { Registry } from "prom-client";
import { MailboxInspection } from "../../queues/mailbox-inspection.ts";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import { NodeRegistry } from "../../queues/node-registry.ts";
import { DefinitionWork } from "../definition-work/definition-work.ts";
import { Threads } from "../definition-work/threads.ts";
import { ensureBootstrap, issueFirstToken } from "../app/upkeep/bootstrap.ts";
import { currentQuotas } from "../app/current-quotas.ts";
import { currentRateLimits } from "../app/current-rate-limits.ts";
import { PolledSettings } from "../app/polled-settings.ts";
import { projectFactsOf } from "../app/project-facts.ts";
import type { ClusterContext } from "../app/upkeep/cluster.ts";
import { BegunRuns } from "../app/begun-runs.ts";
import type { AppContext } from "../app/context.ts";
import { LargeReads } from "../app/large-reads.ts";
import { rememberedPlans } from "../app/runs/loaded-run.ts";
import { type ReadinessCheck, readinessReader } from "../app/readiness.ts";
import type { NodeConfig } from "../settings/config.ts";
import { LoneBoard } from "../board/lone-board.ts";
import { RedisBoard } from "../board/redis-board.ts";
import { readLanes } from "../board/board-queue.ts";
import { QueuePlaces } from "../board/queue-places.ts";
import { readWorkloadIssuers } from "./workload-issuers.ts";
import { RedisPresence } from "../board/redis-presence.ts";
import { systemClock } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import { RedisFeed } from "../feed/redis-feed.ts";
import { createMetricsServer } from "../http/server/metrics-server.ts";
import { checkRedis, connectRedis, type RedisTarget } from "../redis/connect.ts";
import { startEmbeddedRedis } from "../redis/embedded.ts";
import { SecretVault } from "../secrets/vault.ts";
import { SchemaSwitch } from "../stores/format/schema-switch.ts";
import { STORED_FORMAT, type StoredFormat } from "../stores/format/stored-format.ts";
import { DiskReserve } from "../stores/sqlite/disk-reserve.ts";
import { registerCallMetrics, registerGatewayMeters } from "../telemetry/meter-metrics.ts";
import { Meters } from "../telemetry/meters.ts";
import { registerProcessMetrics } from "../telemetry/process-metrics.ts";
import { claimObjects } from "./claim-objects.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { endWithThisProcess } from "./lifeline.ts";
import { closeServer, listen } from "./listen.ts";
import { registerClusterMetrics } from "./metrics.ts";
import { masterKeysOf } from "./master-keys.ts";
import { nodeRecord } from "./node-record.ts";
import { packageVersion } from "./package-root.ts";
import { objectReadiness } from "./object-readiness.ts";
import { checkMailboxes, clockReadiness, guardOwnership, ownershipReadiness, startClockCheck } from "./ownership.ts";
import { openGit } from "./git.ts";
import { startExporter } from "./traces.ts";
import { registerStartMetrics } from "./start-metrics.ts";
import { readOrMakeSigningKey } from "./signing-key.ts";
import { agreeOnShards, confirmShards } from "./shard-number.ts";
import { measuredStores, messageFormat, openStores, versionedStores } from "./stores.ts";
import { Teardown } from "./teardown.ts";
import { openTls } from "./tls-files.ts";

export interface NodeOptions {
  /**
   * Must exist when SQLite or an embedded Redis is used. For an embedded Redis, the caller has locked it (data-dir.ts).
   */
  readonly dataDir: string;
  readonly log: Logger;
  /** Called for each part when it is ready. */
  readonly onReady: (part: string, how: string) => void;
  readonly signal: AbortSignal;
  /** The stored format of another release, for tests of upgrades. */
  readonly format?: StoredFormat;
}

export interface StartedNode {
  readonly context: AppContext;
  /** `host:port` to connect to, for each listener; null when the node does not have the role. */
  readonly http: string | null;
  readonly grpc: string | null;
  readonly metrics: string;
  /** See `issueFirstToken` of src/app/upkeep/bootstrap.ts. A start that fails has made none, so no token is lost. */
  firstToken(): Promise<string | null>;
  /**
   * Ends the parts: the edge first, then gateway, owner of shards, feed, Redis and store. Idempotent; never rejects.
   */
  stop(): Promise<void>;
}

/**
 * A node that has found no other node for this long keeps its feed to itself. A Redis that was emptied lists the other
 * nodes again sooner.
 */
const ALONE_MS = 3_000;

/**
 * Starts the roles of `config`. When a part fails or `signal` is aborted, it ends the parts that have started, and
 * rejects. It rejects with the signal's reason; with `conflict` for a port in use, for another number of shards than
 * the deployment has, and for a deployment whose versions cannot work beside this one; with `unavailable` for a store
 * or a Redis that cannot be used.
 */
export async function startNode(config: NodeConfig, options: NodeOptions): Promise<StartedNode> {
  const teardown = new Teardown(options.log);
  try {
    return await startParts(config, options, teardown);
  } catch (error) {
    await teardown.end();
    throw error;
  }
}

async function startParts(config: NodeConfig, options: NodeOptions, teardown: Teardown): Promise<StartedNode> {
  const tls = await openTls(config, options.log, teardown);
  const ground = await openGround(config, options, teardown);
  const parts = await openParts(config, options, ground, teardown);
  const { context } = parts;
  await ensureBootstrap(context, {
    ...(config.bootstrapToken === null ? {} : { token: config.bootstrapToken }),
    ...(config.registrationToken === null ? {} : { registrationToken: config.registrationToken }),
  });
  const checks = await startChecks(config, ground, parts, teardown);
  const metricsServer = createMetricsServer(parts.registry, {
    tls: tls.metrics,
    readiness: readinessReader(context, checks.readiness),
  });
  const metrics = await listen(metricsServer, config.metrics, "MILLRACE_METRICS_ADDRESS");
  teardown.add("the metrics listener", () => closeServer(metricsServer, 0));
  const { http, grpc } = await startRoles(config, { options, ground, parts, checks, tls }, teardown);
  return { context, http, grpc, metrics, firstToken: () => issueFirstToken(context), stop: () => teardown.end() };
}

/** Tells that a part is ready, and ends the start when it is aborted. */
function tellReady({ onReady, signal }: NodeOptions, part: string, how: string): void {
  onReady(part, how);
  signal.throwIfAborted();
}

function hasRole({ roles }: NodeConfig, role: NodeConfig["roles"][number]): boolean {
  return roles.includes(role);
}

type Ground = Awaited<ReturnType<typeof openGround>>;

/** Opens what a node of any role stands on: the store, Redis, its place among the nodes, and the format that it writes. */
async function openGround(config: NodeConfig, options: NodeOptions, teardown: Teardown) {
  const { dataDir, log, format = STORED_FORMAT } = options;
  const disk = config.mongodb === null || config.redis === null ? startReserve(dataDir, log, teardown) : undefined;
  const meters = new Meters();
  const opened = await openStores(config, dataDir, { disk, log, objectCalls: meters.objectCalls });
  teardown.add("the store", () => opened.close());
  const adapters = measuredStores(opened, meters.storeCalls);
  const shardCount = await agreeOnShards(adapters.shards, config.shards);
  tellReady(options, "store", config.mongodb === null ? "ready (SQLite)" : "ready (MongoDB)");

  const given = config.redis ?? (await startRedis(dataDir, disk, log, teardown));
  const target = { ...given, calls: meters.redisCalls };
  const redis = connectRedis(target, { role: "edge", log });
  teardown.add("the connection to Redis", () => redis.disconnect());
  await checkRedis(redis, log);
  tellReady(options, "Redis", config.redis === null ? "ready (private server)" : "ready");

  const clock = systemClock;
  const nodeId = randomUUID();
  const nodes = new NodeRegistry({ redis, record: nodeRecord(nodeId, config, clock, format), log });
  // The teardown withdraws this node after all its roles have ended: until then the other nodes must count it.
  teardown.add("the node registry", () => nodes.stop());
  await nodes.start();
  await confirmShards(adapters.shards, shardCount);
  const readers = async () => (await nodes.list()).map(({ schema }) => schema);
  const { shards } = adapters;
  const schemaSwitch = await SchemaSwitch.join({ schema: format.schema, readers, shards, log });
  teardown.add("the schema switch", () => schemaSwitch.stop());
  const { writes } = schemaSwitch;
  const stores = versionedStores(adapters, format, writes);
  return { clock, meters, messages: messageFormat(format, writes), nodeId, nodes, redis, shardCount, stores, target };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens what roles share: feed, mailboxes, board, settings, metrics and secrets, and the context of all use cases. */
async function openParts(config: NodeConfig, { dataDir, log }: NodeOptions, ground: Ground, teardown: Teardown) {
  const { clock, meters, messages, nodeId, nodes, redis, shardCount, stores, target } = ground;
  const isAlone = (): boolean => nodes.aloneMs() >= ALONE_MS;
  const feed = new RedisFeed({
    publisher: redis,
    subscriber: connectRedis(target, { role: "subscriber", log }),
    node: { nodeId, isAlone },
    log,
  });
  teardown.add("the feed", () => feed.close());
  const mailboxes = new MailboxSender({ redis, shards: shardCount, format: messages });
  teardown.add("the mailbox sender", () => mailboxes.close());
  const inspection = new MailboxInspection({ redis, shards: shardCount });
  teardown.add("the mailbox inspection", () => inspection.close());
  const settings = new PolledSettings({ documents: stores.documents, log });
  const quotas = currentQuotas(settings, config.quotas);
  const rateLimits = currentRateLimits(settings, config);
  const reading = await settings.start();
  teardown.add("the settings", () => reading.stop());
  const shared = new RedisBoard({
    redis,
    feed,
    clock,
    quotas,
    tenantOf: async (projectId) => (await projectFactsOf({ clock, stores }, projectId)).tenantId,
  });
  const board = new LoneBoard({ shared, isAlone, clock, quotas });
  const presence = new RedisPresence(redis);
  const registry = new Registry();
  teardown.add("the measurement of the event loop", registerProcessMetrics(registry, packageVersion()));
  registerCallMetrics(registry, meters);
  const onTurnSaved = registerStartMetrics(registry, meters, log);
  const begunRuns = new BegunRuns();
  begunRuns.listenSent(({ aggregate: { actors, head }, plan }) => {
    meters.runsCreated.add(head.origin.trigger.kind);
    onTurnSaved(actors, new Map(), head, plan);
  });
  const threads = new Threads(log);
  teardown.add("the threads for definitions", () => threads.close());
  const spans =
    config.traces === null || !hasRole(config, "worker")
      ? undefined
      : startExporter(config.traces, { clock, log, registry }, teardown);
  const publicUrl = config.publicUrl === null ? {} : { publicUrl: config.publicUrl };
  const secrets = new SecretVault({ store: stores.secrets, keys: await masterKeysOf(config, dataDir), clock });
  const issuers = { clock, log, stores, secrets, ...publicUrl };
  const context: ClusterContext = {
    ...publicUrl,
    ...(await readWorkloadIssuers(hasRole(config, "gateway") ? config.workloadIssuersFile : null, issuers)),
    stores,
    feed,
    mailboxes,
    board,
    queue: new QueuePlaces(redis, clock),
    presence,
    nodes,
    inspection,
    definitions: new DefinitionWork(threads),
    git: openGit(config.git, dataDir, clock, teardown),
    largeReads: new LargeReads(),
    largePlans: rememberedPlans(stores),
    clock,
    log,
    begunRuns,
    meters,
    ...(spans && { spans }),
    shards: shardCount,
    eventNamespace: config.eventNamespace,
    artifactRules: config.artifacts,
    retention: config.retention,
    quotas: config.quotas,
    rateLimits: config.rateLimits,
    cacheRules: config.caches,
    uploadRules: config.uploads,
    directDownloads: config.objectStorage?.directDownloads === true,
    ...(config.objectStorage?.logs && { coldLogs: config.objectStorage.logs }),
    logLimit: config.logLimit,
    givenVariables: config.given,
    signingKey: await signingKeyOf(config, dataDir),
    secrets,
  };
  registerClusterMetrics(registry, { context, lanes: () => readLanes(redis) });
  return { context, mailboxes, onTurnSaved, rateLimits, registry };
}

type Checks = Awaited<ReturnType<typeof startChecks>>;

/** Starts what is checked besides the store: whether the node is ready, and whether its clock may be trusted. */
async function startChecks(config: NodeConfig, ground: Ground, { context, registry }: Parts, teardown: Teardown) {
  const { clock, nodeId, redis, stores } = ground;
  const { log } = context;
  const readiness: Record<string, ReadinessCheck> = { redis: () => redis.ping().then(() => {}) };
  const { objects } = stores.blobs;
  if (objects !== undefined) {
    await claimObjects(objects, stores.shards, log);
    readiness["object-storage"] = objectReadiness(objects);
  }
  // The clock of a private Redis is the clock of this node.
  const clockCheck =
    config.redis === null ? null : await startClockCheck({ redis, nodeId, clock, log, registry }, teardown);
  if (clockCheck !== null) readiness["clock"] = clockReadiness(clockCheck);
  return { readiness, clockCheck };
}

interface Started {
  readonly options: NodeOptions;
  readonly ground: Ground;
  readonly parts: Parts;
  readonly checks: Checks;
  readonly tls: Awaited<ReturnType<typeof openTls>>;
}

async function startRoles(config: NodeConfig, started: Started, teardown: Teardown) {
  const { options, ground, parts, checks, tls } = started;
  const { clock, meters, messages, nodeId, nodes, redis, stores, target } = ground;
  const { context, mailboxes, onTurnSaved, rateLimits, registry } = parts;
  const { readiness, clockCheck } = checks;
  const { log } = options;
  const everySenderRings = async () => (await nodes.list()).every(({ rings }) => rings === true);
  if (hasRole(config, "worker")) {
    const { guard, stores: noted } = guardOwnership({ redis, nodeId, stores, clockCheck, registry, log });
    const kernel = { stores: noted, clock: clockCheck?.clock ?? clock };
    const { startWorker } = await import("./worker-role.ts");
    const owner = await startWorker(
      config,
      context,
      { guard, kernel, nodeId, redis: target, registry, messages, meters, onTurnSaved, everySenderRings },
      teardown,
    );
    mailboxes.preferOwner(owner);
    readiness["ownership"] = ownershipReadiness(guard);
    readiness["mailboxes"] = () => checkMailboxes(owner);
    tellReady(options, "worker", "ready");
  }
  let grpc: string | null = null;
  if (hasRole(config, "gateway")) {
    registerGatewayMeters(registry, meters);
    const { startGateway } = await import("./gateway-role.ts");
    grpc = await startGateway(config, context, { readiness, tls: tls.grpc }, teardown);
    tellReady(options, "gateway", `listens on ${grpc}`);
  }
  let http: string | null = null;
  if (hasRole(config, "edge")) {
    const { startEdge } = await import("./edge-role.ts");
    http = await startEdge(config, context, { registry, readiness, rateLimits, tls: tls.http }, teardown);
    tellReady(options, "edge", `listens on ${http}`);
  }
  return { http, grpc };
}

async function signingKeyOf({ signingKey, mongodb }: NodeConfig, dataDir: string): Promise<Uint8Array> {
  if (signingKey !== null) return signingKey;
  // With MongoDB, only a node that neither signs nor checks tokens may have no key; a random one does no harm there.
  return mongodb === null ? readOrMakeSigningKey(dataDir) : randomBytes(32);
}

/** Throws `unavailable` when the disk of the data directory is so full that nothing can start. */
function startReserve(dataDir: string, log: Logger, teardown: Teardown): DiskReserve {
  const disk = new DiskReserve({ folder: dataDir, log });
  disk.start();
  teardown.add("the reserve of the disk", () => disk.stop());
  disk.requireLeast();
  return disk;
}

async function startRedis(
  dataDir: string,
  disk: DiskReserve | undefined,
  log: Logger,
  teardown: Teardown,
): Promise<RedisTarget> {
  const server = await startEmbeddedRedis({ dataDir, log, isDurable: disk?.isFull !== true });
  disk?.onChange((isFull) => void server.setDurable(!isFull));
  const releases = [killAtExit(server.pid), endWithThisProcess(server.pid)];
  teardown.add("Redis", async () => {
    await server.stop();
    for (const release of releases) release();
  });
  return { url: server.url };
}
