/** Connections to Redis. This file decides how each kind of use behaves while Redis cannot be reached. */
import { once } from "node:events";
import { Cluster, Redis, type ClusterNode, type RedisOptions } from "ioredis";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import type { CallMeter } from "../telemetry/meters.ts";
import { JoinedRedis } from "./joined-writes.ts";

/** `url`: `redis://`, `rediss://`, `redis+unix:///path/to/socket`, or the path of a socket. */
export type RedisTarget = ({ readonly url: string } | { readonly cluster: readonly ClusterNode[] }) & {
  /** Measures the commands of all connections to this target, blocking ones left out; absent: nothing measures them. */
  readonly calls?: CallMeter;
};

export type RedisClient = Redis | Cluster;

/** The ioredis options with the address and the credentials of a server. */
export type RedisAddress = Pick<RedisOptions, "host" | "port" | "path" | "db" | "username" | "password" | "tls">;

/**
 * The use of a connection:
 * - `consumer`: for owners of shards. Commands wait for Redis without a limit.
 * - `blocking`: like `consumer`, for one blocking command at a time.
 * - `subscriber`: its subscriptions survive an outage. A new subscription fails after about two seconds.
 * - `edge`: a command fails after about two seconds, so that a request does not wait for Redis longer.
 */
export type RedisRole = "consumer" | "edge" | "subscriber" | "blocking";

const EDGE_TIMEOUT_MS = 2_000;
const CONNECT_MS = 5_000;
const SILENT_SOCKET_MS = 10_000;
const RECONNECT_MS = { least: 50, most: 1_000 };

const ROLE_OPTIONS = {
  consumer: { maxRetriesPerRequest: null, socketTimeout: SILENT_SOCKET_MS },
  blocking: { maxRetriesPerRequest: null },
  subscriber: { maxRetriesPerRequest: null, commandTimeout: EDGE_TIMEOUT_MS },
  edge: { maxRetriesPerRequest: 3, commandTimeout: EDGE_TIMEOUT_MS, socketTimeout: SILENT_SOCKET_MS },
} satisfies Record<RedisRole, RedisOptions>;

/**
 * A client that connects at once, and again after each outage, without a limit. It logs the beginning and the end of an
 * outage, once each.
 */
export function connectRedis(target: RedisTarget, options: { role: RedisRole; log: Logger }): RedisClient {
  const shared = { ...ROLE_OPTIONS[options.role], connectTimeout: CONNECT_MS, keepAlive: 10_000 };
  const client =
    "cluster" in target
      ? new Cluster([...target.cluster], { redisOptions: shared, clusterRetryStrategy: reconnectDelay })
      : new JoinedRedis({ ...parseRedisUrl(target.url), ...shared, retryStrategy: reconnectDelay, reconnectOnError });
  logOutages(client, options.role, options.log);
  if (target.calls !== undefined && options.role !== "blocking") measureCommands(client, target.calls);
  return client;
}

/**
 * The ioredis options of a Redis URL, for callers that make clients themselves. Throws `malformed_request` for any
 * other text.
 */
export function parseRedisUrl(url: string): RedisAddress {
  if (url.startsWith("/")) return { path: url };
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === "redis+unix:") {
    return { path: decodeURIComponent(parsed.pathname), ...credentials(parsed) };
  }
  if (parsed?.protocol !== "redis:" && parsed?.protocol !== "rediss:") {
    throw new MillraceError("malformed_request", "the Redis URL must begin with redis://, rediss:// or redis+unix://");
  }
  const database = Number(parsed.pathname.slice(1) || "0");
  if (!Number.isInteger(database)) {
    throw new MillraceError("malformed_request", "the path of the Redis URL must be empty or a database number");
  }
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1") || "127.0.0.1",
    port: Number(parsed.port || "6379"),
    db: database,
    ...credentials(parsed),
    ...(parsed.protocol === "rediss:" ? { tls: {} } : {}),
  };
}

/**
 * Rejects with `unavailable`, and says what to change, when Redis cannot be reached, when it refuses the login, and when it
 * may drop keys because its memory is full: waiting work would be lost. Logs a warning when a server does not allow the
 * question, as hosted servers do.
 */
export async function checkRedis(client: RedisClient, log: Logger): Promise<void> {
  try {
    for (const server of await mastersOf(client)) await checkPolicy(server, log);
  } catch (error) {
    throw faultOf(error as Error);
  }
}

async function mastersOf(client: RedisClient): Promise<readonly Redis[]> {
  if (!(client instanceof Cluster)) return [client];
  // The masters are known once the client is connected.
  if (client.status !== "ready") await once(client, "ready", { signal: AbortSignal.timeout(CONNECT_MS) });
  return client.nodes("master");
}

const REFUSED_LOGIN = /^(?:NOAUTH|WRONGPASS) /;

async function checkPolicy(server: Redis, log: Logger): Promise<void> {
  let policy: string | undefined;
  try {
    policy = ((await server.config("GET", "maxmemory-policy")) as string[])[1];
  } catch (error) {
    const { message } = error as Error;
    if (REFUSED_LOGIN.test(message) || !/NOPERM|unknown command|disabled|not allowed/i.test(message)) throw error;
  }
  if (policy === undefined) {
    log.warn(
      {},
      "the maxmemory-policy of Redis cannot be read; make sure that it is noeviction, or waiting work may be lost",
    );
  } else if (policy !== "noeviction") {
    throw new MillraceError(
      "unavailable",
      `Redis has maxmemory-policy ${policy} and would drop waiting work when its memory is full; ` +
        "set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf)",
    );
  }
}

/** The error of a first call, for the operator who has set the address. */
function faultOf(error: Error & { readonly lastNodeError?: Error }): Error {
  if (error instanceof MillraceError) return error;
  const reply = error.lastNodeError ?? error;
  if (REFUSED_LOGIN.test(reply.message)) {
    const text = "Redis refuses the login: check the user and the password of REDIS_URL";
    return new MillraceError("unavailable", text, { cause: error });
  }
  if (reply.name === "ReplyError") return error;
  return new MillraceError(
    "unavailable",
    "Redis cannot be reached: check REDIS_URL or REDIS_CLUSTER_NODES, and that the server runs",
    { cause: error },
  );
}

function credentials(url: URL): RedisAddress {
  return {
    ...(url.username === "" ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
  };
}

function reconnectDelay(attempt: number): number {
  const delay = Math.min(RECONNECT_MS.most, RECONNECT_MS.least * 2 ** Math.min(attempt, 8));
  return delay * (0.75 + Math.random() / 4);
}

/**
 * A replica that was a master answers READONLY. ioredis then connects to the new master and repeats the command there
 * (2).
 */
function reconnectOnError(error: Error): 2 | false {
  return error.message.startsWith("READONLY") ? 2 : false;
}

/** Set on a command that is measured: the client sends a command again that had to wait for a connection. */
const IS_MEASURED = Symbol("measured");

function measureCommands(client: RedisClient, { seconds, errors }: CallMeter): void {
  const send = client.sendCommand.bind(client) as (...args: Parameters<Redis["sendCommand"]>) => unknown;
  client.sendCommand = (...args: Parameters<Redis["sendCommand"]>) => {
    const [command] = args as unknown as [{ name: string; promise: Promise<unknown>; [IS_MEASURED]?: true }];
    if (command[IS_MEASURED] === undefined) {
      command[IS_MEASURED] = true;
      const { name } = command;
      const begunAt = performance.now();
      const end = (): void => seconds.of(name).observe((performance.now() - begunAt) / 1_000);
      command.promise.then(end, () => {
        end();
        errors.add(name);
      });
    }
    return send(...args);
  };
}

function logOutages(client: RedisClient, role: RedisRole, log: Logger): void {
  let since: number | undefined;
  client.on("error", (error: Error & { code?: string }) => {
    if (since !== undefined) return;
    since = performance.now();
    log.warn({ role, error: error.message || error.code }, "Redis cannot be reached; trying again until it can");
  });
  client.on("ready", () => {
    if (since === undefined) return;
    log.info({ role, outageMs: Math.round(performance.now() - since) }, "Redis can be reached again");
    since = undefined;
  });
}
