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

/** A call on its way. */
interface Sent {
  readonly process: Process;
  readonly what: string;
  readonly fate: Fate;
  readonly apply: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

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
  /** True while no process can reach the server. */
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
    return new Promise<T>((resolve, reject) => {
      if (!process.isAlive) return;
      const fate = this.fateOf?.(process, what) ?? this.#draw();
      if (fate === "crashBefore") {
        this.#options.trace.note(() => `${process.name} dies before ${this.#options.name}.${what}`);
        process.kill();
        return;
      }
      const call: Sent = { process, what, fate, apply, resolve: resolve as (result: unknown) => void, reject };
      const delayMs = typeof fate === "object" ? fate.delayMs : this.#delay();
      this.#options.scheduler.after(this.#inOrder(process, delayMs), () => this.#arrive(call, false));
    });
  }

  /** Time of a message that this server passes on, milliseconds. */
  delayOfMessage(): number {
    return this.#delay();
  }

  #draw(): Fate {
    const { draws } = this.#options;
    const { crashBefore, crashAfter, callLost, answerLost } = this.faults;
    if (draws.chance(crashBefore)) return "crashBefore";
    if (draws.chance(callLost)) return "callLost";
    if (draws.chance(crashAfter)) return "crashAfter";
    return draws.chance(answerLost) ? "answerLost" : undefined;
  }

  #arrive(call: Sent, wasHeld: boolean): void {
    const { draws, trace, name, isOrdered } = this.#options;
    const { process, what, fate } = call;
    // A connection never lets a call overtake one that waits.
    if (!wasHeld && isOrdered && (this.#held.get(process) ?? 0) > 0) return this.#hold(call);
    if (!this.isReachableFrom(process)) {
      // Some clients are told at once, others wait until the server is back.
      if (draws.chance(0.5)) return this.#hold(call);
      return this.#fail(call, "cannot be reached", draws.fraction() * REFUSED_MS);
    }
    trace.note(() => `${process.name} ${name}.${what}${fate === "callLost" ? " (lost)" : ""}`);
    if (fate === "callLost") return this.#fail(call, "the call was lost");
    const answer = answerOf(call);
    if (fate === "crashAfter") {
      trace.note(() => `${process.name} dies after ${name}.${what}`);
      process.kill();
    } else if (fate === "answerLost") {
      trace.note(() => `the answer to ${process.name} ${name}.${what} is lost`);
      this.#fail(call, "the answer was lost");
    } else if (draws.chance(0.7)) process.enter(answer);
    else process.after(this.#delay(), answer);
  }

  /** Keeps a call at its process until the server can be reached. */
  #hold(call: Sent): void {
    const { process } = call;
    this.#countHeld(process, 1);
    this.#options.scheduler.after(this.#inOrder(process, RETRY_MS), () => {
      this.#countHeld(process, -1);
      if (process.isAlive) this.#arrive(call, true);
    });
  }

  #fail({ process, reject }: Sent, text: string, delayMs = this.#delay()): void {
    process.after(delayMs, () => reject(new Error(`${this.#options.name}: ${text}`)));
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

/** Has the effect of the call at the server. Answers what tells the caller how it went. */
function answerOf({ apply, resolve, reject }: Sent): () => void {
  try {
    const result = apply();
    return () => resolve(result);
  } catch (error) {
    return () => reject(error);
  }
}
