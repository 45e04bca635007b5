/** The agent's data directory: the lock that keeps a second agent out, and the paths of its files and folders. */
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { isDiskFull } from "../../domain/disk-space.ts";
import type { Logger } from "../../domain/logger.ts";
import { makeFolder } from "../../make-folder.ts";
import { isLocked, resultCode, SqliteConnection } from "../../sqlite/connection.ts";
import type { StepUser } from "../process/step-user.ts";
import { moveAside, Trash } from "./trash.ts";

export interface AgentDataDir {
  /** The directory itself, as an absolute path. */
  readonly root: string;
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
 * far as two seconds allow, because the agent itself needs some room. With a `user`, steps run as this user: the user may
 * pass through the folders and list none of them.
 */
export async function claimDataDir(path: string, log: Logger, user?: StepUser): Promise<AgentDataDir> {
  const root = resolve(path);
  let lock: SqliteConnection | undefined;
  try {
    await makeFolder(root, 0o700);
    lock = new SqliteConnection(join(root, LOCK_FILE));
    // The agent never writes to this database, so it needs no journal file on the disk.
    lock.exec("PRAGMA journal_mode=MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return await takeOver(root, lock, log, user);
  } catch (error) {
    lock?.close();
    if (!isLocked(error)) throw unusable(root, error);
    const owner = await readFile(join(root, OWNER_FILE), "utf8").catch(() => "unknown");
    throw new MillraceError(
      "conflict",
      `an agent (pid ${owner.trim()}) already runs on ${root}: stop it, or give this one another data directory`,
    );
  }
}

async function takeOver(root: string, lock: SqliteConnection, log: Logger, user?: StepUser): Promise<AgentDataDir> {
  const mode = user === undefined ? 0o700 : 0o711;
  const [workDir, scratchDir, trashDir] = [join(root, "work"), join(root, "scratch"), join(root, "trash")];
  await mkdir(trashDir, { recursive: true, mode: 0o700 });
  const folders = [workDir, scratchDir];
  for (const folder of folders) {
    // Moved, not removed: the folder may be large, and steps of a killed agent may still be dying and writing files.
    moveAside(folder, trashDir);
  }
  if (isDiskFull(root)) await new Trash(trashDir, log).close();
  for (const folder of folders) {
    await mkdir(folder);
    await chmod(folder, mode);
  }
  // The file only helps to find the owner. On a full disk it stays empty.
  await writeFile(join(root, OWNER_FILE), `${process.pid}\n`).catch(() => {});
  const pluginDir = join(root, "plugins");
  if (user !== undefined) await openToSteps(root, pluginDir);
  return {
    root,
    identityFile: join(root, "identity.json"),
    journalFile: join(root, "journal.jsonl"),
    workDir,
    scratchDir,
    trashDir,
    pluginDir,
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

/** Keeps the agent's own files to the agent before others may pass through the folder. */
async function openToSteps(root: string, pluginDir: string): Promise<void> {
  for (const { name } of (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isFile())) {
    await chmod(join(root, name), 0o600);
  }
  await mkdir(pluginDir, { recursive: true });
  await chmod(pluginDir, 0o711);
  // Earlier versions kept these to the agent.
  for (const name of await readdir(pluginDir)) {
    for (const folder of [join(pluginDir, name), join(pluginDir, name, "content")]) {
      await chmod(folder, 0o755).catch(() => {});
    }
  }
  await chmod(root, 0o711);
}

function unusable(root: string, cause: unknown): MillraceError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = resultCode(cause) === undefined ? (code ?? message) : message;
  return new MillraceError(
    "unavailable",
    `cannot use the agent's data directory ${root} (${why}): make it writable, or choose another`,
    { cause },
  );
}
