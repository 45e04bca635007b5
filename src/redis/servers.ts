/** The servers behind a connection: their addresses, their identity and their memory. */
import type { Redis } from "ioredis";
import type { RedisClient } from "./connect.ts";

/** All servers that hold keys: the single server, or the masters of a cluster. */
export function serversOf(client: RedisClient): readonly Redis[] {
  return "nodes" in client ? client.nodes("master") : [client];
}

/** The server's `run_id`, which changes with each start of the server. */
export async function readRunId(server: Redis): Promise<string> {
  return /run_id:(\w+)/.exec(await server.info("server"))?.[1] ?? "";
}

export interface RedisServer {
  /** `host:port`, or the path of a socket. */
  readonly address: string;
  readonly usedMemoryBytes: number;
  /** Null when the server has no memory limit. */
  readonly maxMemoryBytes: number | null;
}

/** The address and the memory of each server. Rejects when one of them does not answer. */
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
