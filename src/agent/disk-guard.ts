/**
 * Watches the free space of the disk that holds the data directory. While it is below a floor, the agent starts no new
 * job. Running steps continue; they get an error from the system when the disk is full.
 */
import type { Clock } from "../domain/clock.ts";
import { type DiskFloor, type DiskSpace, diskSpaceOf, FULL_BYTES } from "../domain/disk-space.ts";
import type { Logger } from "../domain/logger.ts";

/** How long a measurement of the disk is reused. */
const FRESH_MS = 500;

export interface DiskGuardOptions {
  readonly folder: string;
  readonly floor: DiskFloor;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
  /** Throws when the system cannot tell. Default: asks the file system of `folder`. */
  readonly measure?: (folder: string) => DiskSpace;
}

export class DiskGuard {
  readonly #options: DiskGuardOptions;
  #measuredAt = Number.NEGATIVE_INFINITY;
  /** Undefined when the system cannot tell; then jobs start, and their steps get the errors of the disk. */
  #space: DiskSpace | undefined;
  #wasLow = false;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
  }

  /** Why no job may start now, as text for users; empty when a job may start. */
  obstacle(): string {
    const space = this.#measure();
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

  /** Says that the disk is full, as a possible cause of a step's failure; empty when the disk is not full. */
  fullDiskHint(): string {
    const space = this.#measure(0);
    return space !== undefined && space.free < FULL_BYTES ? "the agent's disk is full" : "";
  }

  #floorOf({ total }: DiskSpace): number {
    const { bytes, percent } = this.#options.floor;
    return Math.min(bytes, (total * percent) / 100);
  }

  #measure(freshMs = FRESH_MS): DiskSpace | undefined {
    const { clock, folder, measure = diskSpaceOf } = this.#options;
    if (clock.monotonic() - this.#measuredAt < freshMs) return this.#space;
    this.#measuredAt = clock.monotonic();
    try {
      this.#space = measure(folder);
    } catch {
      this.#space = undefined;
    }
    return this.#space;
  }
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)} MiB`;
}
