/**
 * A file that a step writes for the agent. The agent creates it, names it in a variable, and reads it after the step. The
 * step may have replaced the file by anything: another file, a pipe, a link.
 */
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveTo, type Owner } from "./process/step-user.ts";
import type { Trash } from "./folders/trash.ts";

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
  /** Removes the file, or what the step has put in its place. */
  dispose(): void;
}

/** Creates an empty file in `folder` that only the user of the step may read. */
export function makeStepFile(folder: string, name: string, trash: Trash, user?: Owner): StepFile {
  const path = join(folder, `${name}-${randomUUID()}`);
  writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  giveTo(user, path);
  return { path, read: (maxBytes) => readContent(path, maxBytes), dispose: () => remove(path, trash) };
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
  return { bytes: Buffer.alloc(0), size: 0, problem };
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
