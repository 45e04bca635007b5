/**
 * Looks after the room that is left on the disk of the data directory: below a floor no job begins. What runs goes on, and
 * learns from the system when nothing is left.
 */
import { statfsSync } from "node:fs";
import type { Clock } from "../domain/clock.ts";
import type { DiskFloor } from "../domain/disk-floor.ts";
import type { Logger } from "../domain/logger.ts";

/** For how long a look at the disk holds. */
const FRESH_MS = 500;
/** Less than this is as good as nothing: a file may be written and another not. */
const FULL_BYTES = 16 * 2 ** 20;

/** Of a disk, bytes. */
export interface DiskSpace {
  /** For a user without special rights. */
  readonly free: number;
  readonly total: number;
}

export interface DiskGuardOptions {
  readonly folder: string;
  readonly floor: DiskFloor;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
  /** Throws when nobody can tell. */
  readonly look?: (folder: string) => DiskSpace;
}

export class DiskGuard {
  readonly #options: DiskGuardOptions;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Undefined when nobody can tell: whoever needs the disk finds out. */
  #space: DiskSpace | undefined;
  #wasLow = false;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
  }

  /** Why no job may begin now, for people; empty when one may. */
  obstacle(): string {
    const space = this.#look();
    const floor = space === undefined ? 0 : this.#floorOf(space);
    const isLow = space !== undefined && space.free < floor;
    const obstacle = isLow
      ? `${mebibytes(space.free)} of the agent's disk are free, less than ${mebibytes(floor)}`
      : "";
    if (isLow !== this.#wasLow) {
      this.#wasLow = isLow;
      const { folder, log } = this.#options;
      if (isLow) log.warn({ folder, ...space }, `no more jobs begin on this agent: ${obstacle}`);
      else log.info({ folder, ...space }, "there is room on the disk again: jobs begin");
    }
    return obstacle;
  }

  /** What may have made a step fail, for people; empty when the disk has not. */
  fullness(): string {
    const space = this.#look(0);
    return space !== undefined && space.free < FULL_BYTES ? "the agent's disk is full" : "";
  }

  #floorOf({ total }: DiskSpace): number {
    const { bytes, percent } = this.#options.floor;
    return Math.min(bytes, (total * percent) / 100);
  }

  #look(freshMs = FRESH_MS): DiskSpace | undefined {
    const { clock, folder, look = spaceOf } = this.#options;
    if (clock.monotonic() - this.#lookedAt < freshMs) return this.#space;
    this.#lookedAt = clock.monotonic();
    try {
      this.#space = look(folder);
    } catch {
      this.#space = undefined;
    }
    return this.#space;
  }
}

function spaceOf(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)} MiB`;
}
