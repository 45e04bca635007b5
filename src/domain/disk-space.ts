/** The space of a disk, as the system tells it. */
import { statfsSync } from "node:fs";

/** The space of a disk, in bytes. */
export interface DiskSpace {
  /** What a user without special rights may still write. */
  readonly free: number;
  readonly total: number;
}

/** How much of a disk must stay free: the lesser of the two amounts. */
export interface DiskFloor {
  readonly bytes: number;
  /** Percent of the size of the disk, 0 to 100. */
  readonly percent: number;
}

/** A disk with less free space counts as full: a small file may still fit, but a larger one does not. */
export const FULL_BYTES = 16 * 2 ** 20;
/** A small disk counts as full below this share of its size. */
const FULL_SHARE = 0.05;

/** The space of the disk that holds `folder`. Throws when the system cannot tell. */
export function diskSpaceOf(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Below this, in bytes, a disk of this size counts as full. */
export function fullBelow({ total }: Pick<DiskSpace, "total">): number {
  return Math.min(FULL_BYTES, total * FULL_SHARE);
}

/** True when almost nothing is free on the disk of `folder`. False where the system cannot tell. */
export function isDiskFull(folder: string): boolean {
  try {
    const space = diskSpaceOf(folder);
    return space.free < fullBelow(space);
  } catch {
    return false;
  }
}

/** A size for people: `3.2 MiB`. */
export function mebibytes(bytes: number): string {
  return `${(Math.floor((bytes / 2 ** 20) * 10) / 10).toString()} MiB`;
}
