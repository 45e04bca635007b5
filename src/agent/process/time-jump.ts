/**
 * Notices that time has passed in which this process did not run: the machine was suspended, the process or all of its
 * container was stopped, or the wall clock was set ahead, as it is when a virtual machine continues.
 */

import type { Clock } from "../../domain/clock.ts";

/** What both clocks show at one moment, milliseconds. */
export interface Moment {
  readonly wallMs: number;
  /** The clock that counts while the machine is suspended, where there is one. */
  readonly uptimeMs: number;
}

/** A shorter time is harmless: the control plane waits for 5 s after the end of a lease. */
const LEAST_JUMP_MS = 2_000;

/**
 * How much longer than `expectedMs` the time between two moments was, by the clock that moved further; 0 when that is
 * not worth a notice. A wall clock that was set back is no sign of anything.
 */
export function jumpBetween(before: Moment, after: Moment, expectedMs: number): number {
  const passedMs = Math.max(after.wallMs - before.wallMs, after.uptimeMs - before.uptimeMs);
  const jumpMs = passedMs - expectedMs;
  return jumpMs >= LEAST_JUMP_MS ? jumpMs : 0;
}

export interface JumpWatchOptions {
  readonly now: () => Moment;
  /** Between two looks. A jump is noticed within this time of the return. */
  readonly everyMs: number;
  /** Called with the length of a jump, milliseconds. */
  readonly onJump: (jumpMs: number) => void;
}

/** Reads both clocks. */
export function momentReader(clock: Clock): () => Moment {
  return () => ({ wallMs: clock.now(), uptimeMs: clock.monotonic() });
}

/** Looks at the clocks at regular times while it is on. It begins switched off. */
export class JumpWatch {
  readonly #options: JumpWatchOptions;
  #last: Moment | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JumpWatchOptions) {
    this.#options = options;
  }

  /** Looks from now on, for jumps since an earlier moment if there is one. Idempotent. */
  start(since?: Moment): void {
    if (this.#timer !== undefined) return;
    this.#last = since ?? this.#options.now();
    this.#timer = setInterval(() => this.look(), this.#options.everyMs);
  }

  /** Idempotent. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#last = undefined;
  }

  /** Looks at the clocks now. No effect while the watch is off. */
  look(): void {
    const { now, everyMs, onJump } = this.#options;
    if (this.#last === undefined) return;
    const moment = now();
    const jumpMs = jumpBetween(this.#last, moment, everyMs);
    this.#last = moment;
    if (jumpMs > 0) onJump(jumpMs);
  }
}
