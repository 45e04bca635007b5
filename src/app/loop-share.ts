/**
 * Shares the event loop between bulk work (log lines, viewers, subscriptions) and everything else. Bulk work is done in
 * pieces, and each piece asks for its time first. In one turn of the event loop the pieces get a few milliseconds
 * together, so that requests, leases and timers are served in between.
 */

/** The time of all pieces in one turn. A piece that has begun is finished, so a turn may last one piece longer. */
const SLICE_MS = 8;

export class LoopShare {
  readonly #sliceMs: number;
  readonly #waiting: (() => void)[] = [];
  #isInTurn = false;
  #endsAt = 0;

  constructor(sliceMs: number = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** Resolves when the caller may do a piece of work; pieces begin in the order of the calls. */
  enter(): Promise<void> {
    if (!this.#isInTurn) this.#beginTurn();
    if (this.#waiting.length === 0 && performance.now() < this.#endsAt) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #beginTurn(): void {
    this.#isInTurn = true;
    this.#endsAt = performance.now() + this.#sliceMs;
    setImmediate(() => void this.#nextTurn());
  }

  async #nextTurn(): Promise<void> {
    this.#isInTurn = false;
    if (this.#waiting.length === 0) return;
    this.#beginTurn();
    do {
      this.#waiting.shift()!();
      // The piece runs before this continues.
      await Promise.resolve();
    } while (this.#waiting.length > 0 && performance.now() < this.#endsAt);
  }
}

/** One for the process, which has one event loop. */
export const loopShare = new LoopShare();
