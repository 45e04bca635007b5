/**
 * Nodes of one installation inside the test process: the whole program without its command line, on a Redis and a
 * folder of the test.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNodeConfig } from "../../src/settings/config.ts";
import { type StartedNode, startNode } from "../../src/node/node.ts";
import type { Logger } from "../../src/domain/logger.ts";
import { startTestRedis, type TestRedis } from "./redis.ts";

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface TestNode extends StartedNode {
  /** The token that the node has to show, if it is the first one of the installation. */
  readonly adminToken: string | null;
}

export interface TestNodes {
  readonly redis: TestRedis;
  /** Log lines of all nodes. */
  readonly logged: readonly LogLine[];
  /** Starts one more node. `roles` are words separated by commas. `variables` are added to the node's environment. */
  start(roles: string, variables?: Readonly<Record<string, string>>): Promise<TestNode>;
  close(): Promise<void>;
}

const ANY_PORT = "127.0.0.1:0";

export async function openTestNodes(settings: { readonly shards: number }): Promise<TestNodes> {
  const redis = await startTestRedis();
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-nodes-"));
  const nodes: StartedNode[] = [];
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
      const node = await startNode(config, { dataDir, log, onReady: () => {}, signal });
      nodes.push(node);
      return { ...node, adminToken: await node.firstToken() };
    },
    async close() {
      await Promise.all(nodes.map((node) => node.stop()));
      await redis.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
