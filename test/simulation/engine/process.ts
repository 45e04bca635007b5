/**
 * A simulated process. It can be killed, and then nothing that it waits for comes any more; and it can be frozen, and
 * then everything comes late, while the clock goes on.
 */
import type { Cancel, Clock, Timers } from "../../../src/domain/clock.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";

export class Process {
  readonly name: string;
  /** Called once, when the process dies. */
  readonly onDeath: (() => void)[] = [];
  readonly clock: Clock;
  readonly timers: Timers;
  /** By how much its wall clock is ahead, milliseconds. */
  aheadMs = 0;
  readonly #scheduler: Scheduler;
  readonly #trace: Trace;
  #alive = true;
  #frozenUntil = 0;

  constructor(scheduler: Scheduler, trace: Trace, name: string) {
    this.#scheduler = scheduler;
    this.#trace = trace;
    this.name = name;
    this.clock = { now: () => Math.floor(scheduler.now + this.aheadMs), monotonic: () => scheduler.now };
    this.timers = { after: (ms, run) => this.after(ms, run) };
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  get isFrozen(): boolean {
    return this.#frozenUntil > this.#scheduler.now;
  }

  /** Calls `run` in this process after `ms` milliseconds: never when it is dead then, and late when it is frozen. */
  after(ms: number, run: () => void): Cancel {
    let cancelled = false;
    // The inner function has no name on purpose: to name a function costs more than to make it, and this is done often.
    let cancel = this.#scheduler.after(ms, () => {
      this.enter(() => {
        if (!cancelled) run();
      });
    });
    return () => {
      cancelled = true;
      cancel();
      cancel = () => undefined;
    };
  }

  /** Calls `run` in this process: now, or when it is no longer frozen. */
  enter(run: () => void): void {
    if (!this.#alive) return;
    if (this.isFrozen) this.#scheduler.after(this.#frozenUntil - this.#scheduler.now, () => this.enter(run));
    else run();
  }

  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#trace.note(() => `${this.name} is killed`);
    for (const listener of this.onDeath.splice(0)) listener();
  }

  freeze(ms: number): void {
    if (!this.#alive) return;
    this.#trace.note(() => `${this.name} is frozen for ${Math.round(ms)} ms`);
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#scheduler.now + ms);
  }
}
