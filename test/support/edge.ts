/** The user-facing edges over real engines: SQLite, Redis, HTTP and WebSocket on a loopback port. No worker runs. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import type { AddressedMessage } from "../../queues/envelope.ts";
import { MailboxInspection } from "../../queues/mailbox-inspection.ts";
import { type NodeRecord, NodeRegistry } from "../../queues/node-registry.ts";
import type { ClusterContext } from "../../src/app/upkeep/cluster.ts";
import { firstStart } from "./first-start.ts";
import type { FollowerBounds } from "../../src/app/following/follower-limits.ts";
import { Followers } from "../../src/app/following/followers.ts";
import type { ReadinessChecks } from "../../src/app/readiness.ts";
import { LargeReads } from "../../src/app/large-reads.ts";
import { rememberedPlans } from "../../src/app/runs/loaded-run.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { QueuePlaces } from "../../src/board/queue-places.ts";
import { RedisBoard } from "../../src/board/redis-board.ts";
import { RedisPresence } from "../../src/board/redis-presence.ts";
import { newId } from "../../src/domain/ids.ts";
import { UNBOUNDED } from "../../src/domain/retention-text.ts";
import type { ColdChunks } from "../../src/stores/format/cold-chunks.ts";
import { RedisFeed } from "../../src/feed/redis-feed.ts";
import { createHttpServer, type HttpServerOptions } from "../../src/http/server/server.ts";
import { connectRedis } from "../../src/redis/connect.ts";
import type { Role } from "../../src/domain/roles.ts";
import { attachWebSocketEndpoint, type WebSocketEndpointOptions } from "../../src/ws/endpoint.ts";
import { problemOfAnswer } from "./answer-check.ts";
import { ARTIFACT_RULES } from "./artifact-rules.ts";
import { CACHE_RULES } from "./cache-rules.ts";
import { UPLOAD_RULES } from "./upload-rules.ts";
import { LOG_LIMIT } from "./log-limit.ts";
import { silentLog } from "./kernel-ports.ts";
import { startTestRedis, type TestRedis } from "./redis.ts";
import { testVault } from "./secrets.ts";
import { openTestSqlite } from "./stores.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string | null;
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

export interface TestEdge {
  readonly context: ClusterContext;
  readonly followers: Followers;
  readonly redis: TestRedis;
  /** The file of the store. */
  readonly storePath: string;
  readonly registry: Registry;
  readonly port: number;
  readonly origin: string;
  /** Token of the user `admin`, with the scope `act-as`. */
  readonly adminToken: string;
  /** Messages that the edge has sent to mailboxes. */
  readonly sentMessages: AddressedMessage[];
  /** How far the edge's clock is ahead of the machine's, in milliseconds. */
  skewMs: number;
  /** Set to make every send to a mailbox fail, as without Redis. */
  mailboxesFail: boolean;
  readonly readiness: { checks: ReadinessChecks };
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a user with that role and a personal token for the user. */
  userWithRole(role: Role): Promise<{ readonly name: string; readonly token: string }>;
  close(): Promise<void>;
}

const SHARDS = 16;
/** The registry never announces this record: the edge only reads which nodes are alive. */
const EDGE_NODE: NodeRecord = { nodeId: "", roles: [], version: "", host: "", pid: 0, startedAt: 0, schema: 0 };

export async function openTestEdge(
  limits: Pick<WebSocketEndpointOptions, "pingMs" | "stallMs" | "sessionCheckMs" | "outgoing"> & {
    limits?: Partial<FollowerBounds>;
    headWithinMs?: number;
    refuseAfterMs?: number;
    trustedProxies?: HttpServerOptions["trustedProxies"];
    rateLimits?: HttpServerOptions["rateLimits"];
    origins?: HttpServerOptions["origins"];
    deaf?: HttpServerOptions["deaf"];
    oidc?: HttpServerOptions["oidc"];
    git?: NonNullable<ClusterContext["git"]>;
    webFolder?: string;
    cold?: ColdChunks;
  } = {},
): Promise<TestEdge> {
  const redis = await startTestRedis();
  const store = await openTestSqlite(limits.cold);
  const log = silentLog;
  const target = { url: redis.url };
  const client = connectRedis(target, { role: "edge", log });
  const feed = new RedisFeed({ publisher: client, subscriber: connectRedis(target, { role: "subscriber", log }), log });
  const inspection = new MailboxInspection({ redis: client, shards: SHARDS });
  const registry = new Registry();
  const sentMessages: AddressedMessage[] = [];
  const edge = { skewMs: 0, mailboxesFail: false, readiness: { checks: {} as ReadinessChecks } };
  const clock = { now: () => Date.now() + edge.skewMs, monotonic: () => performance.now() };
  const context: ClusterContext = {
    stores: store.stores,
    feed,
    mailboxes: {
      async send(message) {
        if (edge.mailboxesFail) throw new Error("Redis cannot be reached");
        sentMessages.push(message);
      },
      sendAt: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
    board: new RedisBoard({ redis: client, feed, clock }),
    queue: new QueuePlaces(client, clock),
    presence: new RedisPresence(client),
    nodes: new NodeRegistry({ redis: client, record: EDGE_NODE, log }),
    inspection,
    retention: {
      rules: {
        runs: { ...UNBOUNDED, ageMs: 90 * 86_400_000 },
        logs: UNBOUNDED,
        artifacts: UNBOUNDED,
        events: UNBOUNDED,
      },
      recordsMs: 30 * 86_400_000,
      auditMs: 400 * 86_400_000,
    },
    largeReads: new LargeReads(),
    largePlans: rememberedPlans(store.stores),
    clock,
    log,
    ...(limits.git && { git: limits.git }),
    shards: SHARDS,
    eventNamespace: "svc",
    secrets: testVault(store.stores),
    artifactRules: ARTIFACT_RULES,
    cacheRules: CACHE_RULES,
    uploadRules: UPLOAD_RULES,
    logLimit: LOG_LIMIT,
    signingKey: new TextEncoder().encode("k".repeat(32)),
  };
  const { adminToken } = await firstStart(context);
  const followers = new Followers(context, limits.limits);
  const { server, app, publicUrl, streams } = createHttpServer(context, {
    registry,
    followers,
    ...(limits.sessionCheckMs === undefined ? {} : { sessionCheckMs: limits.sessionCheckMs }),
    headWithinMs: limits.headWithinMs,
    refuseAfterMs: limits.refuseAfterMs,
    trustedProxies: limits.trustedProxies,
    rateLimits: limits.rateLimits,
    origins: limits.origins,
    ...(limits.deaf === undefined ? {} : { deaf: limits.deaf }),
    oidc: limits.oidc,
    ...(limits.webFolder === undefined ? {} : { webFolder: limits.webFolder }),
    readiness: {
      others: async () => void (await Promise.all(Object.values(edge.readiness.checks).map((check) => check()))),
    },
  });
  const webSockets = attachWebSocketEndpoint(context, { app, server, publicUrl, registry, followers, ...limits });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  return Object.assign(edge, {
    context,
    followers,
    redis,
    storePath: store.path,
    registry,
    port,
    origin,
    adminToken: adminToken!,
    sentMessages,
    async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
      const token = options.token === undefined ? adminToken : options.token;
      const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
      const response = await fetch(origin + path, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined ? {} : { "content-type": "application/json" }),
          ...options.headers,
        },
        ...(payload === undefined ? {} : { body: payload }),
      });
      const text = await response.text();
      const { status, headers: sent } = response;
      const answer = { status, headers: sent, body: text === "" ? undefined : JSON.parse(text) };
      const type = sent.get("content-type") ?? "";
      const problem = problemOfAnswer(method, path, { status, type, body: answer.body });
      if (problem !== undefined) throw new Error(problem);
      return answer;
    },
    async userWithRole(role: Role) {
      const userId = newId("usr");
      const name = `${role}-${userId.slice(-6)}`;
      await store.stores.identity.createUser({
        userId,
        name,
        role,
        passwordHash: "",
        createdAt: 0,
        disabled: false,
      });
      return { name, token: await issueToken(context, { kind: "personal", subject: userId, name: "test" }) };
    },
    async close() {
      streams.endAll();
      await webSockets.close();
      server.closeAllConnections();
      server.close();
      await feed.close();
      await inspection.close();
      client.disconnect();
      await store.close();
      await redis.stop();
    },
  });
}
