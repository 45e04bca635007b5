/** The data directory of an embedded control plane: its path, and the lock that lets only one process use it. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { MillraceError } from "../domain/errors.ts";
import { makeFolder } from "../make-folder.ts";
import { isSocketPath } from "../redis/socket-path.ts";
import { isLocked, resultCode, SqliteConnection } from "../sqlite/connection.ts";

const LOCK_FILE = "lock.db";
const OWNER_FILE = "owner.pid";

/** The default path: `$XDG_DATA_HOME/millrace`, or `~/.local/share/millrace`. */
export function defaultDataDir(environment: NodeJS.ProcessEnv = process.env): string {
  const home = environment["XDG_DATA_HOME"] ?? "";
  // The XDG specification says to ignore a relative path.
  return join(isAbsolute(home) ? home : join(homedir(), ".local", "share"), "millrace");
}

/** The file of the embedded store. */
export function storeFile(dataDir: string): string {
  return join(dataDir, "millrace.db");
}

/** The data directory of the agent of a local installation. */
export function agentDataDir(dataDir: string): string {
  return join(dataDir, "agent");
}

/** The socket on which the agent of a local installation waits for the next start; null when its path is too long. */
export function agentSocket(dataDir: string): string | null {
  const socket = join(dataDir, "agent.sock");
  return isSocketPath(socket) ? socket : null;
}

/** Creates the directory, readable by this user only. Rejects with `unavailable` when it cannot. Idempotent. */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new MillraceError(
      "unavailable",
      `cannot create the data directory ${dataDir} (${code}): choose another with --data-dir or MILLRACE_DATA_DIR`,
      { cause: error },
    );
  }
}

/** True when the directory is missing, or contains only the files of {@link claimDataDir}. */
export async function isFreeDataDir(dataDir: string): Promise<boolean> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw unusable(dataDir, error);
  });
  return names.every((name) => name === LOCK_FILE || name === OWNER_FILE);
}

/**
 * Locks the directory for this process, and answers the function that unlocks it. Rejects with `conflict`, naming the
 * pid of the owner, when another living process has the lock. The lock is that of an SQLite file: the operating system
 * releases it when the process ends, so a killed process leaves no lock behind.
 */
export async function claimDataDir(dataDir: string): Promise<() => void> {
  await makeDataDir(dataDir);
  let lock: SqliteConnection | undefined;
  try {
    lock = new SqliteConnection(join(dataDir, LOCK_FILE));
    // No data is ever written to this file, so it needs no journal file on disk.
    lock.exec("PRAGMA journal_mode=MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (!isLocked(error)) throw unusable(dataDir, error);
    const owner = await readFile(join(dataDir, OWNER_FILE), "utf8").catch(() => "unknown");
    throw new MillraceError("conflict", `already running (pid ${owner.trim()}) on ${dataDir}`);
  }
  // The file only helps to find the owner. On a full disk it stays empty.
  await writeFile(join(dataDir, OWNER_FILE), `${process.pid}\n`).catch(() => {});
  return () => lock.close();
}

function unusable(dataDir: string, cause: unknown): MillraceError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = resultCode(cause) === undefined ? code : `${LOCK_FILE}: ${message}`;
  return new MillraceError(
    "unavailable",
    `cannot use the data directory ${dataDir} (${why}): ` +
      "make it writable, or choose another with --data-dir or MILLRACE_DATA_DIR",
    { cause },
  );
}
