/**
 * A private Redis server for one test file: on a loopback port, with data in a temporary folder. The server ends with
 * this process.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findRedisBinary } from "../../src/redis/binary.ts";
import { ServerProcess } from "./server-process.ts";
import { freePort } from "./ports.ts";

export interface TestRedis {
  readonly url: string;
  readonly connection: { readonly host: string; readonly port: number };
  readonly port: number;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
  /** Kills the server with SIGKILL, as in a crash; its data stay for `restart`. */
  kill(): Promise<void>;
  /** Starts a server on the same port and data. Without `appendonly` the server comes back empty. */
  restart(): Promise<void>;
}

export async function startTestRedis(
  options: { readonly appendonly?: boolean; readonly fsync?: "always" | "everysec" } = {},
): Promise<TestRedis> {
  const binary = findRedisBinary();
  const folder = await mkdtemp(join(tmpdir(), "millrace-redis-"));
  const port = await freePort();
  let server: ServerProcess | undefined;

  async function start(): Promise<void> {
    const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--hz", "100"];
    const durable = ["--appendonly", options.appendonly ? "yes" : "no", "--appendfsync", options.fsync ?? "always"];
    server = new ServerProcess([binary, ...settings, ...durable]);
    await waitUntilReady(port);
  }

  async function kill(): Promise<void> {
    await server?.end();
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    connection: { host: "127.0.0.1", port },
    port,
    kill,
    restart: start,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Gives the tests of a suite a server of its own, which is empty before each of them. `use` gets a connection to it, once. */
export function withTestRedis(use: (redis: Redis) => void): void {
  let server: TestRedis;
  let redis: Redis;
  before(async () => {
    server = await startTestRedis();
    redis = new Redis(server.connection);
    use(redis);
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(() => redis.flushall());
}

async function waitUntilReady(port: number): Promise<void> {
  const client = new Redis({ host: "127.0.0.1", port, retryStrategy: (attempt) => (attempt < 500 ? 20 : null) });
  client.on("error", () => {});
  try {
    await client.ping();
  } finally {
    client.disconnect();
  }
}
