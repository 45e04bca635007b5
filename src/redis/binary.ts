/**
 * Finds a Redis server binary on this machine. `scripts/redis-server.mjs` searches in the same order, and can fetch
 * one.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MillraceError } from "../domain/errors.ts";
import { findOnPath, isProgram } from "../program-path.ts";

const SERVERS = ["valkey-server", "redis-server"];
const FETCHED = join("millrace", "redis", "valkey-server");
const FETCHED_IN_PACKAGE = join("node_modules", ".cache", FETCHED);
/** The script that fetches a server. */
const FETCHER = join("scripts", "redis-server.mjs");

/**
 * Like {@link findRedisBinary}, but fetches a server when there is none, because a package that npm installed has had
 * no set-up step. The script announces a download on standard output. Rejects with `unavailable`, and lists what was
 * tried.
 */
export async function provideRedisBinary(): Promise<string> {
  try {
    return findRedisBinary();
  } catch (error) {
    const fetcher = ancestors(dirname(fileURLToPath(import.meta.url)))
      .map((folder) => join(folder, FETCHER))
      .find(existsSync);
    if (process.env["REDIS_BINARY"] || fetcher === undefined) throw error;
    await runFetcher(fetcher);
    return findRedisBinary();
  }
}

/**
 * The absolute path of a server. The order is: REDIS_BINARY, `valkey-server` or `redis-server` on PATH, the server that
 * the set-up step fetched. Never fetches one. Throws `unavailable` when there is none, or when REDIS_BINARY is
 * not an executable file.
 */
export function findRedisBinary(): string {
  const named = process.env["REDIS_BINARY"];
  if (named) {
    if (isProgram(named)) return named;
    throw new MillraceError(
      "unavailable",
      `REDIS_BINARY is ${named}, which is not an executable file; correct or unset it`,
    );
  }
  const fetched = [
    ...ancestors(dirname(fileURLToPath(import.meta.url))).map((folder) => join(folder, FETCHED_IN_PACKAGE)),
    join(userCache(), FETCHED),
  ];
  const found = SERVERS.flatMap((server) => findOnPath(server) ?? [])[0] ?? fetched.find(isProgram);
  if (found !== undefined) return found;
  throw new MillraceError(
    "unavailable",
    "no Redis server found: neither valkey-server nor redis-server is on PATH and none was fetched. " +
      "Run `node scripts/setup.mjs`, install Redis 7 or Valkey, set REDIS_BINARY to a server's executable file, " +
      "or set REDIS_URL to a Redis that runs elsewhere",
  );
}

async function runFetcher(fetcher: string): Promise<void> {
  const child = spawn(process.execPath, [fetcher], { stdio: ["ignore", "inherit", "pipe"] });
  let problem = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (problem += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0)
    throw new MillraceError("unavailable", problem.trim() || "the search for a Redis server was interrupted");
}

/** `$XDG_CACHE_HOME`, or `~/.cache`. */
function userCache(): string {
  const folder = process.env["XDG_CACHE_HOME"] ?? "";
  return isAbsolute(folder) ? folder : join(homedir(), ".cache");
}

/**
 * The folder and all folders above it: from the sources and from the build, the root of the package is at different
 * depths.
 */
function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}
