/**
 * Removes workspaces of ended jobs and folders that an earlier agent left. A folder is first moved aside, which takes
 * no time, and is then removed by a process of its own. A workspace may hold a million files, and removing them in the
 * agent's process would delay its other work.
 *
 * What a step has mounted in a folder is unmounted first. A folder in which something stays mounted is left as it is: the
 * files behind a mount point are not the step's.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../domain/logger.ts";
import { mountPointsIn, unmountIn } from "./mount-points.ts";

/** Folders that arrive within this time are removed by the same process. */
const GATHER_MS = 200;
/** How long the end of the agent waits for removals. The next start of the agent removes the rest. */
const CLOSE_MS = 2_000;
/** How many folders one process removes at most. */
const MAX_PER_PROCESS = 1_000;
/** How often the agent tries to remove a folder. */
const MAX_TRIES = 3;

/**
 * $@: the paths to remove. A symbolic link is removed itself, never its target. Package caches often make folders
 * read-only, so a second try makes all folders writable first: `find` changes each folder before it enters it, and
 * follows no link.
 */
const REMOVE = `
rm -rf -- "$@" && exit
find "$@" -type d -exec chmod u+rwx {} \\;
rm -rf -- "$@"
`;

export class Trash {
  readonly #folder: string;
  readonly #log: Logger;
  /** How often each name in the folder was tried. */
  readonly #tried = new Map<string, number>();
  /** What could not be unmounted at the last try, by the name of the folder that holds it. */
  readonly #mounted = new Map<string, readonly string[]>();
  #timer: NodeJS.Timeout | undefined;
  #removal: { readonly process: ChildProcess; readonly done: Promise<void> } | undefined;
  #isClosed = false;

  /** Starts to remove what an earlier agent left in `folder`. */
  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
    this.#removeSoon();
  }

  /**
   * Moves the folder (or the file or link at this path) aside for removal. No effect without one. Throws if that fails,
   * as it does when something is mounted on the folder itself and cannot be unmounted.
   */
  take(path: string): void {
    if (removeIfEmpty(path)) return;
    moveAside(path, this.#folder);
    this.#removeSoon();
  }

  /** Removes as much as possible within two seconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const killTimer = setTimeout(() => this.#removal?.process.kill("SIGKILL"), CLOSE_MS);
    const endsAt = performance.now() + CLOSE_MS;
    do {
      this.#remove();
      await this.#removal?.done;
    } while (performance.now() < endsAt && this.#namesToRemove().length > 0);
    clearTimeout(killTimer);
  }

  #removeSoon(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#remove();
    }, GATHER_MS);
  }

  /** Starts one removal process, unless one is running. Another process removes what it leaves. */
  #remove(): void {
    const names = this.#namesToRemove();
    if (this.#removal !== undefined || names.length === 0) return;
    for (const name of names) this.#tried.set(name, (this.#tried.get(name) ?? 0) + 1);
    this.#unmount(names);
    const removed = names.filter((name) => !this.#mounted.has(name)).map((name) => join(this.#folder, name));
    const args = ["-c", REMOVE, "millrace-trash", ...removed];
    let isDone: () => void;
    const done = new Promise<void>((resolve) => (isDone = resolve));
    const process = execFile("/bin/sh", args, { cwd: "/" }, () => {
      this.#removal = undefined;
      this.#check(names);
      isDone();
    });
    this.#removal = { process, done };
  }

  #unmount(names: readonly string[]): void {
    this.#mounted.clear();
    if (mountPointsIn(this.#folder).length === 0) return;
    for (const name of names) {
      const left = unmountIn(join(this.#folder, name));
      if (left.length > 0) this.#mounted.set(name, left);
    }
  }

  #check(names: readonly string[]): void {
    const left = new Set(namesIn(this.#folder));
    for (const name of names) if (!left.has(name)) this.#tried.delete(name);
    const given = names.filter((name) => this.#tried.get(name) === MAX_TRIES);
    for (const name of given.filter((each) => this.#mounted.has(each))) {
      const path = join(this.#folder, name);
      this.#log.warn(
        { path, mountPoints: this.#mounted.get(name) },
        "a workspace is not removed, because a step has mounted something in it: unmount it, then remove it by hand",
      );
    }
    const stuck = given.filter((name) => !this.#mounted.has(name));
    if (stuck.length > 0)
      this.#log.warn({ folder: this.#folder, names: stuck }, "a workspace cannot be removed: remove it by hand");
    if (this.#namesToRemove().length > 0) this.#removeSoon();
  }

  #namesToRemove(): readonly string[] {
    return namesIn(this.#folder)
      .filter((name) => (this.#tried.get(name) ?? 0) < MAX_TRIES)
      .slice(0, MAX_PER_PROCESS);
  }
}

/** Empty when the folder itself does not exist any more. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Moves a folder into another folder of the same disk, under a new unique name. It also moves a folder that a step has
 * made read-only, or a file or link that a step has put in its place. No effect when nothing exists at `path`.
 */
export function moveAside(path: string, folder: string): void {
  const target = join(folder, randomUUID());
  try {
    renameSync(path, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    // Something may be mounted on the folder.
    if (code === "EBUSY" && unmountIn(path).length === 0) return renameSync(path, target);
    // A folder without write permission cannot be moved.
    if (code !== "EACCES" || !lstatSync(path).isDirectory()) throw error;
    chmodSync(path, 0o700);
    renameSync(path, target);
  }
}

/**
 * Removes an empty folder directly: most jobs leave an empty one, or none. True when nothing exists at `path` any more.
 */
function removeIfEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
