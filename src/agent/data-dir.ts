/** The agent's data directory: the right to be the only agent on it, and where its parts lie. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import Database from "libsql";
import { MillraceError } from "../domain/errors.ts";
import { moveAside } from "./trash.ts";

export interface AgentDataDir {
  readonly identityFile: string;
  readonly journalFile: string;
  /** Workspaces, one folder a job. */
  readonly workDir: string;
  /** Scripts and pipes of running steps, for this user alone. */
  readonly scratchDir: string;
  /** What is to be removed. */
  readonly trashDir: string;
  /** Plugins that were fetched; they stay over restarts. */
  readonly pluginDir: string;
  /** Gives the directory back. */
  release(): void;
}

const LOCK_FILE = "agent-lock.db";
const OWNER_FILE = "agent.pid";

/**
 * Takes the directory and moves what an earlier agent left in `workDir` and `scratchDir` to `trashDir`: its jobs count as
 * lost with its boot id. `conflict` when a living agent has the directory, `unavailable` when it cannot be used. The lock is
 * SQLite's: the system drops it with the process, so that no kill leaves it behind.
 */
export async function claimDataDir(path: string): Promise<AgentDataDir> {
  const root = resolve(path);
  let lock: Database.Database | undefined;
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
    lock = new Database(join(root, LOCK_FILE));
    // Nothing is ever written, so there is nothing that a journal file could roll back.
    lock.exec("PRAGMA journal_mode=MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return await takeOver(root, lock);
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

async function takeOver(root: string, lock: Database.Database): Promise<AgentDataDir> {
  await writeFile(join(root, OWNER_FILE), `${process.pid}\n`);
  const [workDir, scratchDir, trashDir] = [join(root, "work"), join(root, "scratch"), join(root, "trash")];
  await mkdir(trashDir, { recursive: true, mode: 0o700 });
  for (const folder of [workDir, scratchDir]) {
    // It may be large, and steps of a killed agent may die only now, and make files until then.
    moveAside(folder, trashDir);
    await mkdir(folder, { mode: 0o700 });
  }
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

function unusable(root: string, cause: unknown): MillraceError {
  const { code, message } = cause as { code?: string; message?: string };
  return new MillraceError(
    "unavailable",
    `cannot use the agent's data directory ${root} (${code ?? message}): make it writable, or choose another`,
    { cause },
  );
}
