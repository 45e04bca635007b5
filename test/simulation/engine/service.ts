/**
 * A server that processes call: Redis, or the store. A call travels to the server, has its effect there at one moment,
 * and its answer travels back. Everything in between can go wrong.
 */
import type { Draws } from "./draws.ts";
import { type CallFaults, NO_FAULTS } from "./faults.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";

/** Time that a call or an answer usually takes at most, milliseconds. */
const QUICK_MS = 3;
/** Between two tries to reach a server, for callers that wait for it. */
const RETRY_MS = 300;
/** Longest time after which a caller that cannot reach the server is told so. */
const REFUSED_MS = 1_500;

/** Makes a call of one process. `apply` is its effect at the server, and must not wait; `what` is for people. */
export type Call = <T>(what: string, apply: () => T) => Promise<T>;

/** Answers a fault for one call instead of chance; for simulations of one fixed case. */
export type Fate = "crashBefore" | "crashAfter" | "callLost" | "answerLost" | { readonly delayMs: number } | undefined;

export interface ServiceOptions {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly trace: Trace;
  /** True when the calls of one process arrive in the order in which they were made, as over one connection. */
  readonly isOrdered: boolean;
}

export class Service {
  faults: CallFaults = NO_FAULTS;
  /** True while nobody can reach the server. */
  isDown = false;
  /** Processes that cannot reach the server. */
  readonly cutOff = new Set<Process>();
  /** Decides what becomes of a call before chance is asked. */
  fateOf: ((process: Process, what: string) => Fate) | undefined;
  readonly #options: ServiceOptions;
  /** When the newest call of each process arrives. */
  readonly #arrivals = new Map<Process, number>();
  /** How many calls of each process wait until the server can be reached. */
  readonly #held = new Map<Process, number>();

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  isReachableFrom(process: Process): boolean {
    return !this.isDown && !this.cutOff.has(process);
  }

  callsOf(process: Process): Call {
    return (what, apply) => this.call(process, what, apply);
  }

  /** Makes a call; `apply` is its effect at the server, and must not wait. */
  call<T>(process: Process, what: string, apply: () => T): Promise<T> {
    const { draws, scheduler, trace, name, isOrdered } = this.#options;
    const { faults } = this;
    return new Promise<T>((resolve, reject) => {
      if (!process.isAlive) return;
      const fixed = this.fateOf?.(process, what);
      const is = (fate: keyof CallFaults & string): boolean =>
        fixed === undefined ? draws.chance(faults[fate]) : fixed === fate;
      if (is("crashBefore")) {
        trace.note(() => `${process.name} dies before ${name}.${what}`);
        process.kill();
        return;
      }
      const isLost = is("callLost");
      const delayMs = typeof fixed === "object" ? fixed.delayMs : this.#delay();
      const fail = (text: string): void => {
        process.after(this.#delay(), () => reject(new Error(`${name}: ${text}`)));
      };
      const hold = (): void => {
        this.#countHeld(process, 1);
        scheduler.after(this.#inOrder(process, RETRY_MS), () => {
          this.#countHeld(process, -1);
          if (process.isAlive) arrive(true);
        });
      };
      const arrive = (wasHeld = false): void => {
        // A connection never lets a call overtake one that waits.
        if (!wasHeld && isOrdered && (this.#held.get(process) ?? 0) > 0) return hold();
        if (!this.isReachableFrom(process)) {
          // Some clients are told at once, others wait until the server is back.
          if (draws.chance(0.5)) return hold();
          return void process.after(draws.fraction() * REFUSED_MS, () => {
            reject(new Error(`${name} cannot be reached`));
          });
        }
        trace.note(() => `${process.name} ${name}.${what}${isLost ? " (lost)" : ""}`);
        if (isLost) return fail("the call was lost");
        let answer: () => void;
        try {
          const result = apply();
          answer = () => resolve(result);
        } catch (error) {
          answer = () => reject(error as Error);
        }
        if (is("crashAfter")) {
          trace.note(() => `${process.name} dies after ${name}.${what}`);
          process.kill();
        } else if (is("answerLost")) {
          trace.note(() => `the answer to ${process.name} ${name}.${what} is lost`);
          fail("the answer was lost");
        } else if (draws.chance(0.7)) {
          process.enter(answer);
        } else {
          process.after(this.#delay(), answer);
        }
      };
      scheduler.after(this.#inOrder(process, delayMs), arrive);
    });
  }

  /** Time of a message that this server passes on, milliseconds. */
  delayOfMessage(): number {
    return this.#delay();
  }

  #delay(): number {
    const { draws } = this.#options;
    const { slow, slowMs } = this.faults;
    return draws.fraction() * (draws.chance(slow) ? slowMs : QUICK_MS);
  }

  #countHeld(process: Process, by: number): void {
    this.#held.set(process, (this.#held.get(process) ?? 0) + by);
  }

  #inOrder(process: Process, delayMs: number): number {
    if (!this.#options.isOrdered) return delayMs;
    const { now } = this.#options.scheduler;
    const at = Math.max(now + delayMs, this.#arrivals.get(process) ?? 0);
    this.#arrivals.set(process, at);
    return at - now;
  }
}
