/** Work that is done in passes: at regular times, and at once when there is more to do. */
import { type Cancel, type Clock, systemTimers, type Timers, untilNext } from "../clock.ts";

export interface PassesOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers?: Timers;
  /** Milliseconds between two passes, asked for after each. */
  readonly periodMs: () => number;
  readonly pass: () => Promise<void>;
  /** Called when a pass has rejected. The next one comes at its time. */
  readonly onFailure: (error: unknown) => void;
}

export class Passes {
  readonly #options: PassesOptions;
  readonly #timers: Timers;
  #state: "new" | "started" | "stopped" = "new";
  #cancel: Cancel | undefined;
  #working: Promise<void> = Promise.resolve();
  /** Milliseconds until the next pass, when there is more to do since the present pass began. */
  #hurriedMs: number | undefined;

  constructor(options: PassesOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  /** `new` before the start. */
  get state(): "new" | "started" | "stopped" {
    return this.#state;
  }

  start(): void {
    this.#state = "started";
    this.#schedule(this.#untilNext());
  }

  /** Lets the next pass begin after `restMs`, and not before the end of the present one. */
  hurry(restMs = 0): void {
    this.#hurriedMs = restMs;
    this.#schedule(restMs);
  }

  /** Resolves when the present pass has ended. No further one begins. */
  async stop(): Promise<void> {
    this.#state = "stopped";
    this.#cancel?.();
    await this.#working;
  }

  #untilNext(): number {
    const { clock, periodMs } = this.#options;
    return untilNext(periodMs(), clock.monotonic());
  }

  #schedule(ms: number): void {
    this.#cancel?.();
    if (this.#state !== "started") return;
    this.#cancel = this.#timers.after(ms, () => {
      this.#working = this.#working.then(() => this.#passOnce());
    });
  }

  async #passOnce(): Promise<void> {
    if (this.#state !== "started") return;
    this.#hurriedMs = undefined;
    try {
      await this.#options.pass();
    } catch (error) {
      this.#options.onFailure(error);
    }
    this.#schedule(this.#hurriedMs ?? this.#untilNext());
  }
}
