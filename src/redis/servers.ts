/** The servers behind a connection: which they are, and how operators size them. */
import type { Redis } from "ioredis";
import type { RedisClient } from "./connect.ts";

/** Every server that holds keys: one, or the masters of a cluster. */
export function serversOf(client: RedisClient): readonly Redis[] {
  return "nodes" in client ? client.nodes("master") : [client];
}

/** Changes with each start of the server. */
export async function readRunId(server: Redis): Promise<string> {
  return /run_id:(\w+)/.exec(await server.info("server"))?.[1] ?? "";
}

export interface RedisServer {
  /** `host:port`, or the path of a socket. */
  readonly address: string;
  readonly usedMemoryBytes: number;
  /** Null where the server has no limit of its own. */
  readonly maxMemoryBytes: number | null;
}

/** Rejects when one of the servers cannot be asked. */
export async function readServers(client: RedisClient): Promise<readonly RedisServer[]> {
  return Promise.all(
    serversOf(client).map(async (server) => {
      const { path, host, port } = server.options;
      const memory = await server.info("memory");
      const field = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(memory)?.[1] ?? 0);
      return {
        address: path ?? `${host}:${port}`,
        usedMemoryBytes: field("used_memory"),
        maxMemoryBytes: field("maxmemory") || null,
      };
    }),
  );
}
