/** The agent's data directory: the lock that keeps a second agent out, and the paths of its files and folders. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import Database from "libsql";
import { MillraceError } from "../domain/errors.ts";
import { isDiskFull } from "../domain/disk-space.ts";
import type { Logger } from "../domain/logger.ts";
import { moveAside, Trash } from "./trash.ts";

export interface AgentDataDir {
  readonly identityFile: string;
  readonly journalFile: string;
  /** Workspaces, one folder for each job. */
  readonly workDir: string;
  /** Scripts and pipes of running steps. Only this user may read them. */
  readonly scratchDir: string;
  /** Files and folders that wait for their removal. */
  readonly trashDir: string;
  /** Plugins that the agent has fetched. They survive restarts. */
  readonly pluginDir: string;
  /** Releases the lock. */
  release(): void;
}

const LOCK_FILE = "agent-lock.db";
const OWNER_FILE = "agent.pid";

/**
 * Locks the directory, and moves what an earlier agent left in `workDir` and `scratchDir` to `trashDir`: the jobs of
 * that agent count as lost, because its boot id has ended. Rejects with `conflict` when a running agent holds the lock,
 * and with `unavailable` when the directory cannot be used. The lock is a lock of SQLite, which the operating system
 * releases when the process ends, even when the process is killed. On a full disk, what was moved is removed first, as
 * far as two seconds allow, because the agent itself needs some room.
 */
export async function claimDataDir(path: string, log: Logger): Promise<AgentDataDir> {
  const root = resolve(path);
  let lock: Database.Database | undefined;
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
    lock = new Database(join(root, LOCK_FILE));
    // The agent never writes to this database, so it needs no journal file on the disk.
    lock.exec("PRAGMA journal_mode=MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return await takeOver(root, lock, log);
  } catch (error) {
    lock?.close();
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw unusable(root, error);
    const owner = await readFile(join(root, OWNER_FILE), "utf8").catch(() => "unknown");
    throw new MillraceError(
      "conflict",
      `an agent (pid ${owner.trim()}) already runs on ${root}: stop it, or give this one another data directory`,
    );
  }
}

async function takeOver(root: string, lock: Database.Database, log: Logger): Promise<AgentDataDir> {
  const [workDir, scratchDir, trashDir] = [join(root, "work"), join(root, "scratch"), join(root, "trash")];
  await mkdir(trashDir, { recursive: true, mode: 0o700 });
  const folders = [workDir, scratchDir];
  for (const folder of folders) {
    // Moved, not removed: the folder may be large, and steps of a killed agent may still be dying and writing files.
    moveAside(folder, trashDir);
  }
  if (isDiskFull(root)) await new Trash(trashDir, log).close();
  for (const folder of folders) await mkdir(folder, { mode: 0o700 });
  // The file only helps to find the owner. On a full disk it stays empty.
  await writeFile(join(root, OWNER_FILE), `${process.pid}\n`).catch(() => {});
  return {
    identityFile: join(root, "identity.json"),
    journalFile: join(root, "journal.jsonl"),
    workDir,
    scratchDir,
    trashDir,
    pluginDir: join(root, "plugins"),
    release: () => lock.close(),
  };
}

/**
 * Removes what an agent that has ended left in its data directory, when the disk is full. Leaves the directory of a
 * living agent alone. Never rejects: the agent tells what is wrong with the directory when it starts.
 */
export async function clearAfterDeadAgent(path: string, log: Logger): Promise<void> {
  if (!existsSync(path) || !isDiskFull(path)) return;
  const claimed = await claimDataDir(path, log).catch(() => undefined);
  claimed?.release();
}

function unusable(root: string, cause: unknown): MillraceError {
  const { code, message } = cause as { code?: string; message?: string };
  return new MillraceError(
    "unavailable",
    `cannot use the agent's data directory ${root} (${code ?? message}): make it writable, or choose another`,
    { cause },
  );
}
