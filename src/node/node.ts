/**
 * A node of the control plane: the one place where adapters are chosen and wired to the roles that need them.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { Registry } from "prom-client";
import { MailboxInspection } from "../../queues/mailbox-inspection.ts";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import { NodeRegistry } from "../../queues/node-registry.ts";
import { ensureBootstrap } from "../app/upkeep/bootstrap.ts";
import type { ClusterContext } from "../app/upkeep/cluster.ts";
import type { AppContext } from "../app/context.ts";
import type { NodeConfig } from "../config.ts";
import { RedisBoard } from "../board/redis-board.ts";
import { RedisPresence } from "../board/redis-presence.ts";
import { systemClock } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import { RedisFeed } from "../feed/redis-feed.ts";
import { createMetricsServer } from "../http/metrics-server.ts";
import { checkRedis, connectRedis, type RedisTarget } from "../redis/connect.ts";
import { startEmbeddedRedis } from "../redis/embedded.ts";
import { SecretVault } from "../secrets/vault.ts";
import { SchemaSwitch } from "../stores/format/schema-switch.ts";
import { STORED_FORMAT, type StoredFormat } from "../stores/format/stored-format.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { endWithUs } from "./lifeline.ts";
import { closeServer, listen } from "./listen.ts";
import { registerClusterMetrics } from "./metrics.ts";
import { masterKeysOf } from "./master-keys.ts";
import { nodeRecord } from "./node-record.ts";
import { registerStartMetrics } from "./start-metrics.ts";
import { healthy, startEdge, startGateway, startWorker } from "./roles.ts";
import { keptSigningKey } from "./signing-key.ts";
import { fixShards, messageFormat, openStores, versionedStores } from "./stores.ts";
import { Teardown } from "./teardown.ts";
import { openTls } from "./tls-files.ts";

export interface NodeOptions {
  /** Exists, when SQLite or an embedded Redis is used; whoever starts an embedded Redis has claimed it. */
  readonly dataDir: string;
  readonly log: Logger;
  /** Told of each part as it becomes ready. */
  readonly onReady: (part: string, how: string) => void;
  readonly signal: AbortSignal;
  /** Stands for that of another release, in tests of upgrades. */
  readonly format?: StoredFormat;
}

export interface StartedNode {
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
export async function startNode(config: NodeConfig, options: NodeOptions): Promise<StartedNode> {
  const teardown = new Teardown(options.log);
  try {
    return await startParts(config, options, teardown);
  } catch (error) {
    await teardown.end();
    throw error;
  }
}

async function startParts(
  config: NodeConfig,
  { dataDir, log, onReady, signal, format = STORED_FORMAT }: NodeOptions,
  teardown: Teardown,
): Promise<StartedNode> {
  const tls = await openTls(config, log, teardown);
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
  const stores = versionedStores(adapters, format, writes);
  const letters = messageFormat(format, writes);
  const feed = new RedisFeed({ publisher: redis, subscriber: connectRedis(target, { role: "subscriber", log }), log });
  teardown.add("the feed", () => feed.close());
  const mailboxes = new MailboxSender({ redis, shards: config.shards, format: letters });
  teardown.add("the mailbox sender", () => mailboxes.close());
  const inspection = new MailboxInspection({ redis, shards: config.shards });
  teardown.add("the inspection of mailboxes", () => inspection.close());
  const board = new RedisBoard({ redis, feed, clock, quotas: config.quotas });
  const presence = new RedisPresence(redis);
  const registry = new Registry();
  const onTurnSaved = registerStartMetrics(registry);
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
    onRunBegun: (actors) => onTurnSaved(actors, new Map()),
    shards: config.shards,
    eventNamespace: config.eventNamespace,
    artifactRules: config.artifacts,
    retention: config.retention,
    cacheRules: config.caches,
    signingKey: await signingKeyOf(config, dataDir),
    secrets: new SecretVault({ store: stores.secrets, keys: await masterKeysOf(config, dataDir), clock }),
  };
  const { adminToken } = await ensureBootstrap(context, {
    ...(config.bootstrapToken === null ? {} : { token: config.bootstrapToken }),
    ...(config.registrationToken === null ? {} : { registrationToken: config.registrationToken }),
  });

  registerClusterMetrics(registry, context);
  const readiness: Record<string, () => Promise<void>> = { redis: () => redis.ping().then(() => {}) };
  const metricsServer = createMetricsServer(registry, tls.metrics);
  const metrics = await listen(metricsServer, config.metrics, "MILLRACE_METRICS_ADDRESS");
  teardown.add("the metrics listener", () => closeServer(metricsServer, 0));

  if (has("worker")) {
    const owner = await startWorker(
      config,
      context,
      { nodeId, redis: target, registry, letters, onTurnSaved },
      teardown,
    );
    readiness["mailboxes"] = () => healthy(owner);
    ready("worker", "ready");
  }
  const grpc = has("gateway") ? await startGateway(config, context, { readiness, tls: tls.grpc }, teardown) : null;
  if (grpc !== null) ready("gateway", `listens on ${grpc}`);
  const http = has("edge") ? await startEdge(config, context, { registry, readiness, tls: tls.http }, teardown) : null;
  if (http !== null) ready("edge", `listens on ${http}`);

  return { context, http, grpc, metrics, adminToken, stop: () => teardown.end() };
}

async function signingKeyOf({ signingKey, mongodb }: NodeConfig, dataDir: string): Promise<Uint8Array> {
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
