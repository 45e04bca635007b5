/**
 * The reserve of a data directory: a file of some megabytes that is given up when the disk is full, so that the runs
 * that are there can end. Until there is room again, the store takes nothing that begins something new, because the
 * reserve would be used up by it.
 */
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Cancel, systemClock, systemTimers, untilNext } from "../../domain/clock.ts";
import { type DiskSpace, diskSpaceOf, FULL_BYTES, fullBelow, mebibytes } from "../../domain/disk-space.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";

const RESERVE_FILE = "reserve";
/** The reserve is given up when less than this share of it is free beside it. */
const LOW_SHARE = 1 / 4;
/** The reserve is made again when this many times its size are free, so that it is not given up again at once. */
const ROOM_FACTOR = 1.5;
const CHECK_MS = 500;
/** No disk takes more bytes in a second, so one with much free space is looked at when this pace may have filled it. */
const BYTES_IN_SECOND = 8 * 2 ** 30;
const LONGEST_CHECK_SECONDS = 5;
/** Without this much even after the reserve was given up, nothing starts, bytes. */
const LEAST_BYTES = 2 ** 20;
const BLOCK_BYTES = 2 ** 20;

export interface DiskReserveOptions {
  /** The data directory. */
  readonly folder: string;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Throws when the system cannot tell. Default: asks the system. */
  readonly measure?: (folder: string) => DiskSpace;
}

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  readonly #file: string;
  readonly #listeners: ((isFull: boolean) => void)[] = [];
  #isFull = false;
  /** By the last look. */
  #free = 0;
  #cancel: Cancel | undefined;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    this.#file = join(options.folder, RESERVE_FILE);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Looks at the disk at once, and then twice a second until {@link stop}; more rarely while much is free. */
  start(): void {
    this.look();
    const seconds = Math.min(Math.floor(this.#free / BYTES_IN_SECOND), LONGEST_CHECK_SECONDS);
    const periodMs = seconds > 0 ? 1_000 * seconds : CHECK_MS;
    this.#cancel = systemTimers.after(untilNext(periodMs, systemClock.monotonic()), () => this.start());
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Calls `listener` when the disk has become full, and when there is room again. */
  onChange(listener: (isFull: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /** Gives the reserve up when the disk is full, and makes it again when there is room. */
  look(): void {
    const space = this.#measure();
    this.#free = space?.free ?? 0;
    if (space === undefined) return;
    const size = fullBelow(space);
    if (space.free < size * LOW_SHARE) return void this.#drop();
    if (this.#bytes() >= size) return this.#change(false);
    if (space.free < size * ROOM_FACTOR) return this.#change(true);
    this.#change(!this.#make(size));
  }

  /**
   * Called when a file could not grow. True when the disk was the reason and there was a reserve, so that the caller
   * tries again.
   */
  giveUp(): boolean {
    const space = this.#measure();
    return (space === undefined || space.free < fullBelow(space)) && this.#drop();
  }

  /** Why nothing new is stored now; undefined when the disk has room. */
  refusal(): MillraceError | undefined {
    if (!this.#isFull) return undefined;
    const { folder } = this.#options;
    const space = this.#measure() ?? { free: 0, total: FULL_BYTES };
    return new MillraceError(
      "unavailable",
      `the disk of ${folder} is full (${mebibytes(space.free)} free): nothing new is stored until ` +
        `${mebibytes(fullBelow(space) * ROOM_FACTOR)} are free, so that the runs that are there can end; ` +
        "free disk space, or stop the run that fills it",
    );
  }

  /** Throws `unavailable` when there is too little room even for a start. */
  requireLeast(): void {
    const { folder } = this.#options;
    const free = this.#measure()?.free ?? Number.POSITIVE_INFINITY;
    if (free >= LEAST_BYTES) return;
    const text = `the disk of the data directory ${folder} is full (${mebibytes(free)} free): free disk space, at least ${mebibytes(LEAST_BYTES)}, and start again; nothing that was acknowledged is lost`;
    throw new MillraceError("unavailable", text);
  }

  #drop(): boolean {
    const hadSome = this.#bytes() > 0;
    rmSync(this.#file, { force: true });
    this.#change(true);
    return hadSome;
  }

  #measure(): DiskSpace | undefined {
    const { folder, measure = diskSpaceOf } = this.#options;
    try {
      return measure(folder);
    } catch {
      return undefined;
    }
  }

  #bytes(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** False when the disk has become full meanwhile. */
  #make(size: number): boolean {
    const block = incompressible(BLOCK_BYTES);
    try {
      const file = openSync(this.#file, "w", 0o600);
      try {
        for (let left = Math.ceil(size); left > 0; left -= block.length) {
          if (writeSync(file, block, 0, Math.min(left, block.length)) < Math.min(left, block.length)) return false;
        }
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      return true;
    } catch {
      return false;
    } finally {
      if (this.#bytes() < size) rmSync(this.#file, { force: true });
    }
  }

  #change(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    const { folder, log } = this.#options;
    const free = this.#measure()?.free;
    if (isFull) log.warn({ folder, free }, "the disk is full: its reserve is given up, and nothing new is stored");
    else log.info({ folder, free }, "there is room on the disk again: everything is stored");
    for (const listener of this.#listeners) listener(isFull);
  }
}

/** Bytes that cannot be compressed, so that the file takes its size on every disk: the same in every process. */
function incompressible(size: number): Uint8Array {
  const numbers = new Uint32Array(size / Uint32Array.BYTES_PER_ELEMENT);
  let state = 2_463_534_242;
  for (let index = 0; index < numbers.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    numbers[index] = state;
  }
  return new Uint8Array(numbers.buffer);
}

/*
 * The room that bulk data leaves to state. Log lines, events of agents and artifacts are refused while less than this
 * is free, so that a store which they have filled can still save what ends the runs.
 */

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
