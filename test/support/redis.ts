/** A private Redis server for one test file: a loopback port, data in a temporary folder, gone with this process. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findRedisBinary } from "../../src/redis/binary.ts";
import { freePort } from "./ports.ts";

export interface TestRedis {
  readonly url: string;
  readonly connection: { readonly host: string; readonly port: number };
  readonly port: number;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash; the data stay for `restart`. */
  kill(): Promise<void>;
  /** A server on the same port and data; without `appendonly` it comes back empty. */
  restart(): Promise<void>;
}

/**
 * The shell holds the server's life line: when the pipe on its standard input closes, which the system does even when
 * the test process is killed, it kills the server.
 */
const LIFE_LINE = '"$@" >/dev/null 2>&1 </dev/null & cat >/dev/null; kill -9 $!; wait';

export async function startTestRedis(
  options: { readonly appendonly?: boolean; readonly fsync?: "always" | "everysec" } = {},
): Promise<TestRedis> {
  const binary = await findRedisBinary();
  const folder = await mkdtemp(join(tmpdir(), "millrace-redis-"));
  const port = await freePort();
  let shell: ChildProcess | undefined;

  async function start(): Promise<void> {
    const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--hz", "100"];
    const durable = ["--appendonly", options.appendonly ? "yes" : "no", "--appendfsync", options.fsync ?? "always"];
    shell = spawn("sh", ["-c", LIFE_LINE, "sh", binary, ...settings, ...durable], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    await answers(port);
  }

  async function kill(): Promise<void> {
    const ending = shell;
    shell = undefined;
    if (ending === undefined) return;
    const ended = once(ending, "exit");
    ending.stdin?.end();
    await ended;
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

async function answers(port: number): Promise<void> {
  const client = new Redis({ host: "127.0.0.1", port, retryStrategy: (attempt) => (attempt < 500 ? 20 : null) });
  client.on("error", () => {});
  try {
    await client.ping();
  } finally {
    client.disconnect();
  }
}
