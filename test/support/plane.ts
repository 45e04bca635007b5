/** Nodes of one installation in this process: the whole program but its command line, on a Redis and a folder of the test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNodeConfig } from "../../src/config.ts";
import { type StartedNode, startNode } from "../../src/node/node.ts";
import type { Logger } from "../../src/domain/logger.ts";
import { startTestRedis, type TestRedis } from "./redis.ts";

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface TestPlanes {
  readonly redis: TestRedis;
  /** What all nodes have logged. */
  readonly logged: readonly LogLine[];
  /** Starts one more node; roles are words separated by commas. `variables` are added to its environment. */
  start(roles: string, variables?: Readonly<Record<string, string>>): Promise<StartedNode>;
  close(): Promise<void>;
}

const ANY_PORT = "127.0.0.1:0";

export async function openTestPlanes(settings: { readonly shards: number }): Promise<TestPlanes> {
  const redis = await startTestRedis();
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-plane-"));
  const planes: StartedNode[] = [];
  const logged: LogLine[] = [];
  const logAt =
    (level: keyof Logger): Logger["info"] =>
    (fields, message) =>
      void logged.push({ level, fields, message });
  const log = { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
  return {
    redis,
    logged,
    async start(roles, variables = {}) {
      const config = readNodeConfig({
        MILLRACE_ROLES: roles,
        REDIS_URL: redis.url,
        MILLRACE_HTTP_ADDRESS: ANY_PORT,
        MILLRACE_GRPC_ADDRESS: ANY_PORT,
        MILLRACE_METRICS_ADDRESS: ANY_PORT,
        MAILBOX_SHARDS: String(settings.shards),
        ...variables,
      });
      const { signal } = new AbortController();
      const plane = await startNode(config, { dataDir, log, onReady: () => {}, signal });
      planes.push(plane);
      return plane;
    },
    async close() {
      await Promise.all(planes.map((plane) => plane.stop()));
      await redis.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
