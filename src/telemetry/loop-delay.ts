/**
 * How late the event loop is at each tenth of a second. A tick at each of them would wake an idle process ten times a
 * second. So while the loop is nearly always idle, it is looked at once a second, with the other work of a second: it was
 * on time at the tenths in between.
 */
import { untilNext } from "../domain/clock.ts";
import type { Histogram } from "./histogram.ts";

const TENTH_MS = 100;
const TENTHS_OF_SECOND = 10;
const SECOND_MS = TENTH_MS * TENTHS_OF_SECOND;
/** A second in which the loop was busy for longer than this is not quiet, milliseconds. */
const QUIET_MS = 20;
/** After so many quiet seconds in a row, the loop is looked at once a second. */
const QUIET_SECONDS = 2;
/** Tenths that one delay counts at most: more would be the suspension of a machine. */
const MISSED_TENTHS = 600;

export class LoopDelay {
  readonly #delays: Histogram;
  /** Tenths from the last tick to the next one. */
  #tenths = 1;
  #dueAt: number;
  /** The tenths of the present second, and for how long the loop was busy in them, milliseconds. */
  #passed = 0;
  #busyMs = 0;
  /** In a row, the last one included. */
  #quietSeconds = 0;

  /** `now`: monotonic milliseconds, as in {@link tick}. */
  constructor(delays: Histogram, now: number) {
    this.#delays = delays;
    this.#dueAt = now + TENTH_MS;
  }

  /**
   * Counts how late this tick is. While the loop hangs, no tick comes: each tenth that was missed counts as well, with the delay
   * that it would have had. Otherwise a loop that hangs for seconds would be one delay among many. `busyMs`: for how long the
   * loop was not idle since the last tick. Answers after how many milliseconds to call again.
   */
  tick(now: number, busyMs: number): number {
    const lateMs = Math.max(0, now - this.#dueAt);
    this.#count(lateMs, MISSED_TENTHS);
    this.#passed += this.#tenths;
    this.#busyMs += busyMs;
    if (this.#passed >= TENTHS_OF_SECOND) this.#endSecond();
    // When the loop was busy in between, nothing tells when: it counts as if it had hung once.
    if (this.#tenths > 1) this.#countBetween(this.#quietSeconds > 0 ? 0 : Math.max(0, busyMs - lateMs));
    const waitMs = this.#quietSeconds >= QUIET_SECONDS ? untilNext(SECOND_MS, now) : TENTH_MS;
    this.#tenths = Math.max(1, Math.round(waitMs / TENTH_MS));
    this.#dueAt = now + waitMs;
    return waitMs;
  }

  #endSecond(): void {
    this.#quietSeconds = this.#busyMs <= QUIET_MS ? this.#quietSeconds + 1 : 0;
    this.#passed = this.#busyMs = 0;
  }

  #countBetween(lateMs: number): void {
    const between = this.#tenths - 1;
    const late = lateMs > 0 ? this.#count(lateMs, between) : 0;
    this.#delays.observe(0, between - late);
  }

  /** Counts a delay with the tenths that it has missed, `most` at most; answers how many it has counted. */
  #count(lateMs: number, most: number): number {
    let missed = 0;
    for (; missed < most && lateMs >= missed * TENTH_MS; missed++) {
      this.#delays.observe((lateMs - missed * TENTH_MS) / 1_000);
    }
    return missed;
  }
}
