/**
 * Virtual time, and the events that happen in it, one after the other. After each event, everything that follows from
 * it without waiting has happened before the next event begins.
 */
import type { Cancel } from "../../../src/domain/clock.ts";

interface Event {
  readonly at: number;
  /** Events of the same time happen in the order in which they were scheduled. */
  readonly order: number;
  run: (() => void) | undefined;
}

export class Scheduler {
  /** Unix milliseconds. */
  now: number;
  /** Number of events that have happened. */
  happened = 0;
  readonly #heap: Event[] = [];
  #order = 0;
  readonly #bound: number;
  #failure: Error | undefined;

  /** `bound`: the number of events after which a simulation is taken for endless. */
  constructor(now: number, bound: number) {
    this.now = now;
    this.#bound = bound;
  }

  /** Calls `run` after `ms` milliseconds of virtual time, which need not be whole. */
  after(ms: number, run: () => void): Cancel {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#push(event);
    return () => (event.run = undefined);
  }

  /** Ends the simulation: it has met something that it does not simulate. The first error is kept. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** Lets events happen until `isOver`, which is asked before each event, or until no event is left. */
  runUntil(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          if (this.#failure !== undefined) throw this.#failure;
          if (isOver() || !this.#next()) return resolve();
          if (this.happened > this.#bound) return reject(new Error(`more than ${this.#bound} events`));
        } catch (error) {
          return reject(error as Error);
        }
        // One event in a turn: what waits for the next turn of the event loop waits for one event at most.
        setImmediate(step);
      };
      setImmediate(step);
    });
  }

  #next(): boolean {
    for (let event = this.#pop(); event !== undefined; event = this.#pop()) {
      if (event.run === undefined) continue;
      this.now = event.at;
      this.happened++;
      event.run();
      return true;
    }
    return false;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent]!, event)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
