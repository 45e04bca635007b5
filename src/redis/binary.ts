/** Where a Redis server binary is found on this machine. The order is that of `scripts/setup.mjs`, which can fetch one. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MillraceError } from "../domain/errors.ts";

const SERVERS = ["valkey-server", "redis-server"];
const FETCHED = join("node_modules", ".cache", "millrace", "redis", "valkey-server");

/**
 * Absolute path of a server: REDIS_BINARY, `valkey-server` or `redis-server` on PATH, then the one that setup fetched.
 * Never fetches. `unavailable` when there is none, or when REDIS_BINARY names no executable file.
 */
export async function findRedisBinary(environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = environment["REDIS_BINARY"];
  if (named) {
    if (await isExecutable(named)) return named;
    throw new MillraceError(
      "unavailable",
      `REDIS_BINARY is ${named}, which is no executable file; correct or unset it`,
    );
  }
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = [
    ...SERVERS.flatMap((server) => folders.map((folder) => join(folder, server))),
    ...ancestors(dirname(fileURLToPath(import.meta.url))).map((folder) => join(folder, FETCHED)),
  ];
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
  throw new MillraceError(
    "unavailable",
    "no Redis server found: neither valkey-server nor redis-server is on PATH and none was fetched. " +
      "Run `node scripts/setup.mjs`, install Redis 7 or Valkey, set REDIS_BINARY to a server's executable file, " +
      "or set REDIS_URL to a Redis that runs elsewhere",
  );
}

/** The package's root is not at a fixed depth: this file runs from the sources and from the build. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
