/** Where a Redis server binary is found on this machine. `scripts/redis-server.mjs` has the same order and fetches one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, existsSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MillraceError } from "../domain/errors.ts";

const SERVERS = ["valkey-server", "redis-server"];
const FETCHED = join("millrace", "redis", "valkey-server");
const FETCHED_BESIDE_US = join("node_modules", ".cache", FETCHED);
const FETCHER = join("scripts", "redis-server.mjs");

/**
 * As {@link findRedisBinary}, but fetches a server when there is none: a package that npm has installed has had no set-up
 * step. The fetcher tells of a download on standard output. `unavailable` with what it tried.
 */
export async function provideRedisBinary(): Promise<string> {
  try {
    return await findRedisBinary();
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
    ...ancestors(dirname(fileURLToPath(import.meta.url))).map((folder) => join(folder, FETCHED_BESIDE_US)),
    join(userCache(environment), FETCHED),
  ];
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
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
  if (code !== 0) throw new MillraceError("unavailable", problem.trim() || "the search for a Redis server was ended");
}

/** `$XDG_CACHE_HOME`, or `~/.cache`. */
function userCache(environment: NodeJS.ProcessEnv): string {
  const folder = environment["XDG_CACHE_HOME"] ?? "";
  return isAbsolute(folder) ? folder : join(homedir(), ".cache");
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
