/** Blocks of the disk for the write-ahead log, ahead of time. */
import { fstatSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { diskSpaceOf, fullBelow } from "../../domain/disk-space.ts";
import type { SqliteConnection } from "../../sqlite/connection.ts";

/** SQLite writes the log into the file when it has about this size, and begins it again. */
const USUAL_LOG_BYTES = 4 * 1024 * 1024;
const ZEROS = new Uint8Array(1024 * 1024);

/**
 * Gives the log blocks of the disk ahead of time. SQLite writes over the zeros, which it does not take for commits. So
 * states can be saved on a full disk, even when another process takes every block that becomes free. `log` is a
 * descriptor of the log. The lock of the writer is held meanwhile: else the zeros would replace what another process
 * commits at the end of the log. Does nothing when the lock cannot be had within the connection's `busy_timeout`.
 */
export function extendLog(connection: SqliteConnection, log: number, path: string): void {
  try {
    const space = diskSpaceOf(dirname(path));
    const size = USUAL_LOG_BYTES + fullBelow(space);
    if (space.free < 2 * size || fstatSync(log).size >= size) return;
    connection.exec("BEGIN IMMEDIATE");
    try {
      for (let at = fstatSync(log).size; at < size; at += ZEROS.length) writeSync(log, ZEROS, 0, ZEROS.length, at);
    } finally {
      connection.exec("ROLLBACK");
    }
  } catch {
    // The log grows when it has to, as long as the disk has room.
  }
}
