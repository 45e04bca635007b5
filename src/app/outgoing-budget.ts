/**
 * Bounds the bytes that wait for readers in this process, whatever they read. A reader that takes nothing may hold its
 * share while there is room for all. When there is none, readers that have taken nothing for some seconds are ended,
 * those with the most bytes first, and the others may hold less each.
 */
import type { Clock } from "../domain/clock.ts";

const MAX_BYTES = 64 * 1024 * 1024;
/** What one reader may hold before it has to take something. */
const READER_BYTES = 256 * 1024;
/** The same while more than half of all bytes are in use. */
const SCARCE_READER_BYTES = 64 * 1024;
/** A reader that has taken nothing for this long may be ended. */
const DEAF_MS = 5_000;
/** Between two sums over all readers. */
const CHECK_MS = 200;

export interface OutgoingReader {
  /** Bytes that wait for this reader. */
  waitingBytes(): number;
  /** When the reader took something last, or had nothing to take, by the monotonic clock. */
  readonly tookAt: number;
  /** Ends the reader. */
  end(): void;
}

export interface OutgoingBounds {
  readonly bytes: number;
  readonly deafMs: number;
}

export class OutgoingBudget {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #bounds: OutgoingBounds;
  readonly #readers = new Set<OutgoingReader>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #total = 0;

  constructor(clock: Pick<Clock, "monotonic">, bounds: Partial<OutgoingBounds> = {}) {
    this.#clock = clock;
    this.#bounds = { bytes: MAX_BYTES, deafMs: DEAF_MS, ...bounds };
  }

  /** Answers the function that takes the reader out again. */
  enter(reader: OutgoingReader): () => void {
    this.#readers.add(reader);
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** How many bytes may wait for a reader now, before nothing more is made for it. */
  get readerBytes(): number {
    return this.#total > this.#bounds.bytes / 2 ? SCARCE_READER_BYTES : READER_BYTES;
  }

  /** Bytes that waited for all readers when they were summed last. */
  get total(): number {
    return this.#total;
  }

  /** Called by a reader for which bytes wait. Sums what all readers hold, now and then. */
  note(): void {
    const waitMs = this.#checkedAt + CHECK_MS - this.#clock.monotonic();
    if (waitMs <= 0) this.#check();
    else this.#checkIn(waitMs);
  }

  #checkIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#check();
    }, ms);
    this.#timer.unref();
  }

  #check(): void {
    const now = this.#clock.monotonic();
    this.#checkedAt = now;
    const holders = Array.from(this.#readers, (reader) => ({ reader, bytes: reader.waitingBytes() }));
    this.#total = holders.reduce((sum, { bytes }) => sum + bytes, 0);
    if (this.#total <= this.#bounds.bytes) return;
    const deaf = holders.filter(({ reader }) => now - reader.tookAt >= this.#bounds.deafMs);
    for (const { reader, bytes } of deaf.toSorted((a, b) => b.bytes - a.bytes)) {
      if (this.#total <= this.#bounds.bytes) return;
      reader.end();
      this.#total -= bytes;
    }
    // Who is not deaf yet may be later.
    if (this.#total > this.#bounds.bytes) this.#checkIn(CHECK_MS);
  }
}
