/**
 * A Redis Cluster of three masters for tests: on loopback ports, with data in a temporary folder. The servers end with
 * this process.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findRedisBinary } from "../../src/redis/binary.ts";
import { ServerProcess } from "./server-process.ts";
import { freePort } from "./ports.ts";
import { until } from "./until.ts";

export interface TestRedisCluster {
  readonly nodes: readonly ClusterMaster[];
  /** A value for `REDIS_CLUSTER_NODES`. */
  readonly addresses: string;
  /** Ends all servers and removes their data. Idempotent. */
  stop(): Promise<void>;
}

export interface ClusterMaster {
  readonly port: number;
  /** A connection to this one server, not to the cluster. */
  readonly client: Redis;
  /** Kills the server with SIGKILL and starts it without its data. Resolves when the cluster is whole again. */
  restartEmpty(): Promise<void>;
}

const SLOTS = 16_384;
const MASTERS = 3;
const NODE_TIMEOUT_MS = 5_000;

export async function startTestRedisCluster(): Promise<TestRedisCluster> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-cluster-"));
  const binary = findRedisBinary();
  const servers = await Promise.all(
    Array.from({ length: MASTERS }, async (_, at) => {
      const port = await freePort();
      const busPort = await freePort();
      const settings = ["--port", `${port}`, "--cluster-port", `${busPort}`, "--bind", "127.0.0.1", "--save", ""];
      const cluster = ["--cluster-enabled", "yes", "--cluster-node-timeout", `${NODE_TIMEOUT_MS}`];
      const own = ["--cluster-config-file", join(folder, `${at}.conf`), "--dir", folder, "--hz", "100"];
      const command = [binary, ...settings, ...cluster, ...own];
      const client = new Redis({ port, host: "127.0.0.1", maxRetriesPerRequest: null, retryStrategy: () => 50 });
      client.on("error", () => {});
      return { port, busPort, command, client, process: new ServerProcess(command) };
    }),
  );
  const isWhole = async (): Promise<boolean> => {
    const infos = await Promise.all(servers.map(({ client }) => client.cluster("INFO")));
    return infos.every((info) => /cluster_state:ok/.test(info) && info.includes(`cluster_known_nodes:${MASTERS}`));
  };
  const [first] = servers;
  for (const [at, { client, port, busPort }] of servers.entries()) {
    const from = Math.floor((at * SLOTS) / MASTERS);
    const to = Math.floor(((at + 1) * SLOTS) / MASTERS) - 1;
    await client.call("CLUSTER", "ADDSLOTSRANGE", from, to);
    if (at > 0) await first!.client.call("CLUSTER", "MEET", "127.0.0.1", port, busPort);
  }
  await until("the cluster is whole", isWhole, 20_000);
  return {
    addresses: servers.map(({ port }) => `127.0.0.1:${port}`).join(","),
    nodes: servers.map((server) => ({
      port: server.port,
      client: server.client,
      async restartEmpty() {
        await server.process.end();
        server.process = new ServerProcess(server.command);
        await until("the cluster is whole again", isWhole, 20_000);
      },
    })),
    async stop() {
      for (const { client } of servers) client.disconnect();
      await Promise.all(servers.map((server) => server.process.end()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
