/** When an agent ends by itself: after a number of jobs, or after a time without a job. */
import { type Cancel, systemTimers, type Timers } from "../domain/clock.ts";

/**
 * How long an agent that has waited for jobs without effect still takes one, after it has told the control plane that it takes no
 * more: longer than a claim waits for its answer.
 */
const CLOSING_MS = 3_000;

export interface OwnEndOptions {
  /** Absent for any number. */
  readonly maxJobs?: number;
  /** Absent: the agent waits for jobs indefinitely. */
  readonly idleExitMs?: number;
  /** The control plane must offer no more jobs. Called at most once. `isFull`: a job that comes all the same is refused. */
  readonly onDrain: (isFull: boolean) => void;
  /** The agent holds no job and gets none any more. Called at most once. */
  readonly onEnd: () => void;
  /** Absent: those of the process. */
  readonly timers?: Timers;
}

export class OwnEnd {
  readonly #options: OwnEndOptions;
  readonly #timers: Timers;
  #begun = 0;
  #held = 0;
  /** `closing`: the control plane was told, and a job may be on its way. `closed`: none is. */
  #state: "waiting" | "open" | "closing" | "closed" | "ended" = "waiting";
  #cancelIdle: Cancel | undefined;
  #cancelClosing: Cancel | undefined;

  constructor(options: OwnEndOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  /** How many jobs the agent takes beyond those that it has begun; undefined without a bound. */
  get jobsLeft(): number | undefined {
    const { maxJobs } = this.#options;
    return maxJobs === undefined ? undefined : Math.max(0, maxJobs - this.#begun);
  }

  /** The agent waits for jobs from now on. */
  open(): void {
    if (this.#state === "waiting") this.#state = "open";
    this.#look();
  }

  jobBegins(): void {
    this.#begun++;
    this.#held++;
    this.#look();
  }

  jobEnds(): void {
    this.#held--;
    this.#look();
  }

  /** The agent ends for another reason: nothing is called any more. */
  stop(): void {
    this.#state = "ended";
    this.#cancelIdle?.();
    this.#cancelClosing?.();
  }

  #look(): void {
    this.#cancelIdle?.();
    if (this.#state === "open" && this.jobsLeft === 0) {
      this.#state = "closed";
      this.#options.onDrain(true);
    }
    if (this.#held > 0) return;
    const { idleExitMs, onEnd } = this.#options;
    if (this.#state === "closed") {
      this.#state = "ended";
      onEnd();
    } else if (this.#state === "open" && idleExitMs !== undefined) {
      this.#cancelIdle = this.#timers.after(idleExitMs, () => this.#close());
    }
  }

  #close(): void {
    this.#state = "closing";
    this.#options.onDrain(false);
    this.#cancelClosing = this.#timers.after(CLOSING_MS, () => {
      this.#state = "closed";
      this.#look();
    });
  }
}
