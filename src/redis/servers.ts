/** The servers behind a connection, as operators size them. */
import type { RedisClient } from "./connect.ts";

export interface RedisServer {
  /** `host:port`, or the path of a socket. */
  readonly address: string;
  readonly usedMemoryBytes: number;
  /** Null where the server has no limit of its own. */
  readonly maxMemoryBytes: number | null;
}

/** Every server that holds keys: one, or the masters of a cluster. Rejects when one of them cannot be asked. */
export async function readServers(client: RedisClient): Promise<readonly RedisServer[]> {
  const servers = "nodes" in client ? client.nodes("master") : [client];
  return Promise.all(
    servers.map(async (server) => {
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
