/**
 * The room that bulk data leaves to state. Log lines, events of agents and artifacts are refused while less than this
 * is free, so that a store which they have filled can still save what ends the runs.
 */
import { statfsSync } from "node:fs";

/** The reserve of a large store or disk. */
const RESERVE_BYTES = 256 * 1024 * 1024;
/** The reserve of a smaller one, as a share of its size. */
const RESERVE_SHARE = 0.2;
const DISK_SHARE = 0.05;

/** How much of a store's limit is kept for state, bytes. */
export function reserveOf(limitBytes: number): number {
  return Math.min(RESERVE_BYTES, limitBytes * RESERVE_SHARE);
}

/** True when the disk of this folder has only its reserve left. False where that cannot be told. */
export function isDiskReserved(folder: string): boolean {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return bavail * bsize < Math.min(RESERVE_BYTES, blocks * bsize * DISK_SHARE);
  } catch {
    return false;
  }
}
