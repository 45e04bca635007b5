/**
 * The step leases of an agent. All count from the sending of the last acknowledged sign of life; steps with a lease of the
 * same length share it. The agent ends them in time; the guard ends those of an agent that cannot.
 */
import type { Clock } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import { Guard } from "./process/guard.ts";

/** How long after its end a lease is left to the agent before the guard steps in; the plane waits for 5 s. */
const SLACK_MS = 500;
/** Between two looks at a lease at most: timers stand still while the machine is suspended, the clock does not. */
const LOOK_MS = 1_000;
/** How long a lease that nobody holds is kept: the next step starts faster under one that is there. */
const UNHELD_MS = 600_000;

/** A step's hold on its lease. */
export interface HeldLease {
  /** What the marks of its processes begin with. */
  readonly mark: string;
  /** A file without which the step must not start. */
  readonly permitFile: string;
  /** True for ever once the lease has run out. */
  hasRunOut(): boolean;
  /** Calls `listener` once when the lease runs out, unless it is released before. */
  onRunOut(listener: (reason: string) => void): void;
  /** Idempotent. */
  release(): void;
}

interface Lease {
  readonly number: number;
  readonly leaseMs: number;
  /** What is to be done when it runs out, by holder. */
  readonly holders: Map<HeldLease, (reason: string) => void>;
  timer: NodeJS.Timeout | undefined;
  hasRunOut: boolean;
  /** By the monotonic clock. */
  takenAt: number;
}

export interface LeasesOptions {
  /** For the guard's files. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Leases {
  readonly #clock: Clock;
  readonly #guard: Guard;
  /** Leases that are held or were lately, by length. */
  readonly #leases = new Map<number, Lease>();
  /** By the monotonic clock: when the last acknowledged sign of life was sent. */
  #contact = Number.NEGATIVE_INFINITY;
  #opened = 0;

  constructor(options: LeasesOptions) {
    this.#clock = options.clock;
    this.#guard = new Guard({ ...options, onRunOut: (number) => this.#guardEnded(number) });
  }

  /**
   * The plane has acknowledged a sign of life that was sent at `sentAt` (monotonic). What had run out before stays so:
   * the plane may have given those steps to another agent.
   */
  renew(sentAt: number): void {
    for (const lease of this.#leases.values()) this.#check(lease);
    if (sentAt <= this.#contact) return;
    this.#contact = sentAt;
    for (const lease of this.#leases.values()) {
      if (lease.holders.size === 0 && sentAt - lease.takenAt > UNHELD_MS) this.#close(lease);
      else this.#guard.renew(lease.number, this.#guardedUntil(lease.leaseMs));
    }
  }

  /** Undefined when a lease of this length has run out: nothing may start until the plane answers. Throws when the disk is full. */
  take(leaseMs: number): HeldLease | undefined {
    const known = this.#leases.get(leaseMs);
    if (known !== undefined) this.#check(known);
    if (this.#leftMs(leaseMs) <= 0) return undefined;
    return this.#hold(this.#leases.get(leaseMs) ?? this.#open(leaseMs));
  }

  /** Ends the guard; no step may run any more. */
  async close(): Promise<void> {
    for (const lease of this.#leases.values()) this.#close(lease);
    await this.#guard.close();
  }

  #open(leaseMs: number): Lease {
    const lease: Lease = {
      number: ++this.#opened,
      leaseMs,
      holders: new Map(),
      timer: undefined,
      hasRunOut: false,
      takenAt: this.#contact,
    };
    this.#guard.open(lease.number, this.#guardedUntil(leaseMs));
    this.#leases.set(leaseMs, lease);
    this.#watch(lease);
    return lease;
  }

  #hold(lease: Lease): HeldLease {
    lease.takenAt = this.#clock.monotonic();
    const held: HeldLease = {
      mark: this.#guard.markOf(lease.number),
      permitFile: this.#guard.permitOf(lease.number),
      hasRunOut: () => {
        this.#check(lease);
        return lease.hasRunOut;
      },
      onRunOut: (listener) => lease.holders.set(held, listener),
      release: () => lease.holders.delete(held),
    };
    held.onRunOut(() => {});
    return held;
  }

  #watch(lease: Lease): void {
    if (this.#check(lease)) return;
    const waitMs = Math.min(LOOK_MS, Math.ceil(this.#leftMs(lease.leaseMs)));
    lease.timer = setTimeout(() => this.#watch(lease), waitMs);
  }

  /** Ends the lease when its time is over; true when it has ended. */
  #check(lease: Lease): boolean {
    if (!lease.hasRunOut && this.#leftMs(lease.leaseMs) <= 0) {
      this.#runOut(
        lease,
        `the control plane has acknowledged no heartbeat within the step's lease of ${lease.leaseMs} ms`,
      );
    }
    return lease.hasRunOut;
  }

  #guardEnded(number: number): void {
    const lease = [...this.#leases.values()].find((candidate) => candidate.number === number);
    if (lease !== undefined)
      this.#runOut(lease, `the agent stood still beyond the step's lease of ${lease.leaseMs} ms`);
  }

  #runOut(lease: Lease, reason: string): void {
    lease.hasRunOut = true;
    this.#close(lease);
    const listeners = [...lease.holders.values()];
    lease.holders.clear();
    for (const listener of listeners) listener(reason);
  }

  #close(lease: Lease): void {
    clearTimeout(lease.timer);
    this.#guard.release(lease.number);
    if (this.#leases.get(lease.leaseMs) === lease) this.#leases.delete(lease.leaseMs);
  }

  #leftMs(leaseMs: number): number {
    return this.#contact + leaseMs - this.#clock.monotonic();
  }

  #guardedUntil(leaseMs: number): number {
    return this.#contact + leaseMs + SLACK_MS;
  }
}
