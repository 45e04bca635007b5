/**
 * The step leases of an agent. Every lease counts from the time when the agent sent the last acknowledged hello or
 * heartbeat. Steps whose leases have the same length share one lease. When a lease runs out, the agent kills its steps.
 * The guard kills them if the agent itself is stopped or hangs.
 */
import type { Clock } from "../../domain/clock.ts";
import type { Logger } from "../../domain/logger.ts";
import { Guard } from "./guard.ts";

/**
 * Time between the end of a lease and the kill by the guard. The control plane waits for 5 s before it declares loss.
 */
const GUARD_DELAY_MS = 500;
/** Longest time between two checks of a lease. Timers stop while the machine is suspended; the clock does not. */
const CHECK_MS = 1_000;
/** How long a lease without holders is kept, so that the next step starts faster. */
const UNHELD_MS = 600_000;

/** One step's hold on a lease. */
export interface HeldLease {
  /** The prefix of the marks of the step's processes. */
  readonly mark: string;
  /** The step must not start without this file. The guard removes it when the lease runs out. */
  readonly permitFile: string;
  /** Stays true once the lease has run out. */
  hasRunOut(): boolean;
  /** Calls `listener` once when the lease runs out, unless it is released before. */
  onRunOut(listener: (reason: string) => void): void;
  /** Idempotent. */
  release(): void;
}

interface Lease {
  readonly number: number;
  readonly leaseMs: number;
  /** Listeners for the end of the lease, by holder. */
  readonly holders: Map<HeldLease, (reason: string) => void>;
  timer: NodeJS.Timeout | undefined;
  hasRunOut: boolean;
  /** When a step last took the lease, by the monotonic clock. */
  takenAt: number;
}

export interface LeasesOptions {
  /** The folder for the guard's permit files. */
  readonly folder: string;
  /** The cgroup that holds the cgroups of steps, if this agent has one. */
  readonly cgroupFolder?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Leases {
  readonly #clock: Clock;
  readonly #guard: Guard;
  readonly #log: Logger;
  /** Leases that have holders or had some recently, by length. */
  readonly #leases = new Map<number, Lease>();
  /** Leases whose permits were removed by another process. They serve the steps that run under them, and no new step. */
  readonly #retired = new Set<Lease>();
  /** When the last acknowledged hello or heartbeat was sent, by the monotonic clock. */
  #contactAt = Number.NEGATIVE_INFINITY;
  #opened = 0;

  constructor(options: LeasesOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#guard = new Guard({ ...options, onRunOut: (number) => this.#guardEnded(number) });
  }

  /**
   * The control plane has acknowledged a hello or heartbeat that was sent at `sentAt` (monotonic clock). A lease that
   * had already run out is not renewed: the control plane may have given its steps to another agent.
   */
  renew(sentAt: number): void {
    this.check();
    if (sentAt <= this.#contactAt) return;
    this.#contactAt = sentAt;
    for (const lease of this.#all()) {
      const isUnused = this.#retired.has(lease) || sentAt - lease.takenAt > UNHELD_MS;
      if (lease.holders.size === 0 && isUnused) this.#close(lease);
      else this.#guard.renew(lease.number, this.#guardedUntil(lease.leaseMs));
    }
  }

  /** Ends the leases whose time is over. Timers do not notice the end while the machine is suspended. */
  check(): void {
    for (const lease of this.#all()) this.#check(lease);
  }

  /**
   * Takes a lease of this length. Undefined when such a lease has run out: no step may start until the control plane
   * answers a heartbeat. Throws when the disk is full.
   */
  take(leaseMs: number): HeldLease | undefined {
    const known = this.#leases.get(leaseMs);
    // One reading of the clock, which is a file, for all that is asked of it here.
    const now = this.#clock.monotonic();
    if (known !== undefined) this.#check(known, now);
    if (this.#leftMs(leaseMs, now) <= 0) return undefined;
    this.#retireWithoutPermit(leaseMs);
    return this.#hold(this.#leases.get(leaseMs) ?? this.#open(leaseMs), now);
  }

  /**
   * Tells the guard how to remove containers, as words for a shell: `podman rm -f`. From then on the guard removes those
   * with the labels of a lease that has run out.
   */
  holdsContainers(removal: string): void {
    this.#guard.holdsContainers(removal);
  }

  /**
   * How long the longest lease of a running step still lasts without another contact, milliseconds; while no step runs,
   * that of the recent ones. 0 when none is left.
   */
  longestLeftMs(): number {
    const leases = this.#all();
    const held = leases.filter(({ holders }) => holders.size > 0);
    return Math.max(0, ...(held.length > 0 ? held : leases).map(({ leaseMs }) => this.#leftMs(leaseMs)));
  }

  /** Gives all leases back and ends the guard, which kills any process that is left of a step. */
  async close(): Promise<void> {
    for (const lease of this.#all()) this.#close(lease);
    await this.#guard.close();
  }

  #all(): Lease[] {
    return [...this.#leases.values(), ...this.#retired];
  }

  /**
   * The guard removes the permit of a lease that has run out. So a permit is never written again: the next step takes a
   * new lease, and the running steps keep theirs until the guard says that it is over.
   */
  #retireWithoutPermit(leaseMs: number): void {
    const lease = this.#leases.get(leaseMs);
    if (lease === undefined || this.#guard.hasPermit(lease.number)) return;
    this.#log.warn(
      { permit: this.#guard.permitOf(lease.number), steps: lease.holders.size },
      "the permit of a lease is gone: the guard or another process has removed it; the next steps get a new one",
    );
    this.#leases.delete(leaseMs);
    this.#retired.add(lease);
  }

  #open(leaseMs: number): Lease {
    const lease: Lease = {
      number: ++this.#opened,
      leaseMs,
      holders: new Map(),
      timer: undefined,
      hasRunOut: false,
      takenAt: this.#contactAt,
    };
    this.#guard.open(lease.number, this.#guardedUntil(leaseMs));
    this.#leases.set(leaseMs, lease);
    this.#watch(lease);
    return lease;
  }

  #hold(lease: Lease, now: number): HeldLease {
    lease.takenAt = now;
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
    const waitMs = Math.min(CHECK_MS, Math.ceil(this.#leftMs(lease.leaseMs)));
    lease.timer = setTimeout(() => this.#watch(lease), waitMs);
  }

  /** Ends the lease if its time is over. Returns whether it has ended. */
  #check(lease: Lease, now?: number): boolean {
    if (!lease.hasRunOut && this.#leftMs(lease.leaseMs, now) <= 0) {
      this.#runOut(lease, `the gateway has acknowledged no heartbeat within the step's lease of ${lease.leaseMs} ms`);
    }
    return lease.hasRunOut;
  }

  /** The guard has found that this lease is over, before the agent did. */
  #guardEnded(number: number): void {
    const lease = this.#all().find((candidate) => candidate.number === number);
    if (lease !== undefined)
      this.#runOut(lease, `the agent was stopped for longer than the step's lease of ${lease.leaseMs} ms`);
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
    this.#retired.delete(lease);
  }

  #leftMs(leaseMs: number, now = this.#clock.monotonic()): number {
    return this.#contactAt + leaseMs - now;
  }

  #guardedUntil(leaseMs: number): number {
    return this.#contactAt + leaseMs + GUARD_DELAY_MS;
  }
}
