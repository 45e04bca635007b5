/**
 * What the agent has no more use for, on its way out: workspaces of jobs that are over, and what an earlier agent has left.
 * It is moved aside at once, so that nobody waits for it, and removed by a process of its own: a workspace may hold a million
 * files, and to remove them here would hold everything else up.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../domain/logger.ts";

/** What comes together within this time is removed together. */
const GATHER_MS = 200;
/** How long the end of the agent waits for the rest; the next start goes on with it. */
const LAST_MS = 2_000;
/** How many are removed by one process at most. */
const AT_ONCE = 1_000;
/** How often something is tried that cannot be removed. */
const TRIES = 3;

/**
 * $@: what to remove; symbolic links go themselves. Package caches like to make their folders read-only: `find` passes
 * each folder before it goes in, and follows no link.
 */
const REMOVE = `
rm -rf -- "$@" && exit
find "$@" -type d -exec chmod u+rwx {} \\;
rm -rf -- "$@"
`;

export class Trash {
  readonly #folder: string;
  readonly #log: Logger;
  /** What could not be removed, and how often that was tried. */
  readonly #tried = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #removal: { readonly process: ChildProcess; readonly done: Promise<void> } | undefined;
  #isClosed = false;

  /** Removes what lies in `folder` already. */
  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
    this.#removeSoon();
  }

  /**
   * Takes a folder, or whatever stands in its place, away from where it is. Nothing happens when there is nothing; throws
   * when it cannot be moved.
   */
  take(path: string): void {
    if (isRemoved(path)) return;
    moveAside(path, this.#folder);
    this.#removeSoon();
  }

  /** Removes what can be removed within two seconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const over = setTimeout(() => this.#removal?.process.kill("SIGKILL"), LAST_MS);
    const endsAt = performance.now() + LAST_MS;
    do {
      this.#remove();
      await this.#removal?.done;
    } while (performance.now() < endsAt && this.#names().length > 0);
    clearTimeout(over);
  }

  #removeSoon(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#remove();
    }, GATHER_MS);
  }

  /** One process at a time; whatever it leaves is for another one. */
  #remove(): void {
    const names = this.#names();
    if (this.#removal !== undefined || names.length === 0) return;
    for (const name of names) this.#tried.set(name, (this.#tried.get(name) ?? 0) + 1);
    const args = ["-c", REMOVE, "millrace-trash", ...names.map((name) => join(this.#folder, name))];
    let isDone: () => void;
    const done = new Promise<void>((resolve) => (isDone = resolve));
    const process = execFile("/bin/sh", args, { cwd: "/" }, () => {
      this.#removal = undefined;
      this.#check(names);
      isDone();
    });
    this.#removal = { process, done };
  }

  #check(names: readonly string[]): void {
    const left = new Set(namesIn(this.#folder));
    for (const name of names) if (!left.has(name)) this.#tried.delete(name);
    const lasting = names.filter((name) => this.#tried.get(name) === TRIES);
    if (lasting.length > 0)
      this.#log.warn({ folder: this.#folder, names: lasting }, "a workspace cannot be removed: remove it by hand");
    if (this.#names().length > 0) this.#removeSoon();
  }

  /** What is worth a try. */
  #names(): readonly string[] {
    return namesIn(this.#folder)
      .filter((name) => (this.#tried.get(name) ?? 0) < TRIES)
      .slice(0, AT_ONCE);
  }
}

/** Nothing when somebody has removed the folder itself. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Moves a folder into another one of the same disk, whatever a step has made of it, under a name that is not taken there. */
export function moveAside(path: string, folder: string): void {
  const target = join(folder, randomUUID());
  try {
    renameSync(path, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    // A folder that may not be written to cannot be moved.
    if (code !== "EACCES" || !lstatSync(path).isDirectory()) throw error;
    chmodSync(path, 0o700);
    renameSync(path, target);
  }
}

/** Most jobs leave an empty folder, or none. */
function isRemoved(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
