/**
 * Files that a step writes for the agent. The agent creates a file, names it in a variable, and reads it after the step.
 * The step may have replaced the file by anything: another file, a pipe, a link.
 *
 * Most steps write to none of their files, and the next step gets such a file: a new file can cost a millisecond where
 * many files were removed within the last minutes, because ext4 looks for an inode that was not in use lately.
 */
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isUntouched, type Look, lookAt } from "./folders/look.ts";
import type { Trash } from "./folders/trash.ts";
import { giveTo, type Owner } from "./process/step-user.ts";

/** Opening a pipe must not wait for a writer, and no link may be followed. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

export interface FileContent {
  /** The beginning of the file. */
  readonly bytes: Buffer;
  /** The size of the whole file. */
  readonly size: number;
  /** Why the file cannot be read; undefined when it can. */
  readonly problem: string | undefined;
}

export interface StepFile {
  readonly path: string;
  /** Reads at most so many bytes. Call when no process of the step is left. */
  read(maxBytes: number): FileContent;
  /** Removes the file, or what the step has put in its place. Call once. */
  dispose(): void;
}

const EMPTY: FileContent = { bytes: Buffer.alloc(0), size: 0, problem: undefined };

/** How many files of a name wait for the next step at most. */
const MAX_SPARE = 64;

export class StepFiles {
  readonly #folder: string;
  readonly #trash: Trash;
  readonly #user: Owner | undefined;
  /** Empty files that no step has, by the name that each begins with. */
  readonly #spare = new Map<string, Look[]>();

  /** `folder`: where the files are. `user`: as whom steps run; absent: as the agent. */
  constructor(folder: string, trash: Trash, user?: Owner) {
    this.#folder = folder;
    this.#trash = trash;
    this.#user = user;
  }

  /**
   * An empty file that only the user of the step may read. Its file name begins with `name`. With `ownFolder` the file is
   * made in that folder of the step, and belongs to that step alone.
   */
  make(name: string, ownFolder?: string): StepFile {
    const file = (ownFolder === undefined ? this.#takeSpare(name) : undefined) ?? this.#create(name, ownFolder);
    let wasUntouched: boolean | undefined;
    return {
      path: file.path,
      read: (maxBytes) => {
        wasUntouched = isUntouched(file);
        return wasUntouched ? EMPTY : readContent(file.path, maxBytes);
      },
      dispose: () => {
        const mayKeep = ownFolder === undefined && (wasUntouched ?? isUntouched(file));
        if (!mayKeep || !this.#keep(name, file)) remove(file.path, this.#trash);
      },
    };
  }

  #create(name: string, folder = this.#folder): Look {
    const path = join(folder, `${name}-${randomUUID()}`);
    writeFileSync(path, "", { mode: 0o600, flag: "wx" });
    giveTo(this.#user, path);
    return lookAt(path)!;
  }

  /** A process that its step left behind may have found a spare file, so each file is looked at again. */
  #takeSpare(name: string): Look | undefined {
    for (;;) {
      const file = this.#spare.get(name)?.pop();
      if (file === undefined || isUntouched(file)) return file;
      remove(file.path, this.#trash);
    }
  }

  #keep(name: string, file: Look): boolean {
    const spare = this.#spare.get(name) ?? [];
    if (spare.length >= MAX_SPARE) return false;
    this.#spare.set(name, spare);
    spare.push(file);
    return true;
  }
}

/** Removes a file or a link, if it is there. Throws for a folder. One call to the system, where `rmSync` makes three. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function remove(path: string, trash: Trash): void {
  try {
    removeFile(path);
  } catch {
    trash.take(path); // A folder.
  }
}

function readContent(path: string, maxBytes: number): FileContent {
  let file: number | undefined;
  try {
    file = openSync(path, OPEN_FLAGS);
    const stats = fstatSync(file);
    if (!stats.isFile()) return nothing("it is no longer a regular file");
    const bytes = readStart(file, Math.min(stats.size, maxBytes));
    return { bytes, size: stats.size, problem: undefined };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return nothing("it was removed");
    if (code === "ELOOP" || code === "ENXIO") return nothing("it is no longer a regular file");
    return nothing(`the system refuses it (${code})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function nothing(problem: string): FileContent {
  return { ...EMPTY, problem };
}

/** The first `length` bytes, or fewer if the file is shorter. */
function readStart(file: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, null);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
