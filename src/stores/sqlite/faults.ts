/** Translates errors of SQLite into errors that tell the operator what to do. */
import { dirname } from "node:path";
import { type DiskSpace, diskSpaceOf, fullBelow, mebibytes } from "../../domain/disk-space.ts";
import { MillraceError } from "../../domain/errors.ts";
import { resultCode } from "../../sqlite/connection.ts";

/** Primary result codes. Source: https://sqlite.org/rescode.html */
const FULL = 13;
const IO_ERROR = 10;
const CANNOT_OPEN = 14;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const ADVICE: Readonly<Record<number, string>> = {
  3: "cannot be opened: check the owner and the mode of the file",
  5: "is locked by another process: end that process, or try again later",
  8: "cannot be written: check the owner and the mode of the file and its folder",
  10: "cannot be read or written: check the disk",
  11: "is damaged: restore it from a backup",
  14: "cannot be opened: check that its folder exists, and the owner and the mode of both",
  26: "is not a database of millrace: choose another data directory, or restore a backup",
};

/**
 * An `unavailable` error that says what to do, when the fault is that of the file or its disk; else the error itself.
 */
export function translateFault(error: unknown, path: string, limitBytes: number | null = null): unknown {
  const code = primaryCode(error);
  const advice = mayBeFull(error, path) ? adviceWhenFull(path, limitBytes) : ADVICE[code ?? 0];
  if (advice === undefined) return error;
  return new MillraceError("unavailable", `the store ${path} ${advice}`, { cause: error });
}

/** Why bulk data is refused while state is still stored. */
export function reserved(path: string, limitBytes: number | null): string {
  const limit = limitBytes === null ? "the disk" : `the disk or MILLRACE_STORE_LIMIT (${limitBytes / 1e6} MB)`;
  return (
    `the store ${path} is almost full: what ${limit} has left is kept for the states of runs, and log lines, events of ` +
    `agents, artifacts and caches are refused: raise the limit and start again, free disk space, or keep less`
  );
}

/** True when a file could not grow, because the disk is full or because of the file's limit. */
export function isFull(error: unknown): boolean {
  return primaryCode(error) === FULL;
}

/**
 * As {@link isFull}, and also when a file beside it could not be made or grow: SQLite tells that as another error, which
 * counts only while almost nothing is free on the disk.
 */
export function mayBeFull(error: unknown, path: string): boolean {
  const code = primaryCode(error);
  if (code === FULL) return true;
  const space = code === IO_ERROR || code === CANNOT_OPEN ? spaceBeside(path) : undefined;
  return space !== undefined && space.free < fullBelow(space);
}

/** True when the file is damaged or is not an SQLite file. */
export function isDamaged(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

function adviceWhenFull(path: string, limitBytes: number | null): string {
  const free = spaceBeside(path)?.free;
  const room = free === undefined ? "" : ` (${mebibytes(free)} are free on the disk of ${dirname(path)})`;
  const kept = "nothing that was acknowledged is lost, and runs go on by themselves";
  if (limitBytes === null) return `is full${room}: free disk space; ${kept}`;
  return (
    `is full: it has reached MILLRACE_STORE_LIMIT (${limitBytes / 1e6} MB), or the disk is full${room}: raise the limit and ` +
    `start again, or free disk space; ${kept}`
  );
}

function spaceBeside(path: string): DiskSpace | undefined {
  try {
    return diskSpaceOf(dirname(path));
  } catch {
    return undefined;
  }
}

function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : code & 0xff;
}
