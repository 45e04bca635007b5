/** The slots of one agent: the jobs that hold one, as far as the gateway that serves the agent knows. */
import type { JobRunId } from "../domain/ids.ts";

/** Not stored: a gateway that begins to serve an agent learns the jobs with {@link Slots.reconcile}. */
export class Slots {
  readonly #count: number;
  readonly #now: () => number;
  /** Jobs that hold a slot, each with the monotonic time at which the gateway last learnt of it. */
  readonly #jobs = new Map<JobRunId, number>();
  /** Jobs that were released while {@link reconcile} read the store. */
  readonly #released = new Set<JobRunId>();
  /** What the agent said last: how many jobs it takes beyond those that it held. */
  #told: { readonly left: number; readonly held: ReadonlySet<JobRunId> } | undefined;
  /** Jobs that the agent did not hold when it said so. */
  readonly #uncounted = new Set<JobRunId>();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(count: number, now: () => number) {
    this.#count = count;
    this.#now = now;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Slots that no job holds and that the agent lets jobs take; may be negative after the agent has lowered its number of
   * slots.
   */
  get free(): number {
    const left = this.#told === undefined ? Infinity : this.#told.left - this.#uncounted.size;
    return Math.min(this.#count - this.#jobs.size, left);
  }

  /** The agent takes `left` jobs beyond those that it holds; undefined for any number. */
  bound(left: number | undefined, held: readonly JobRunId[]): void {
    this.#told = left === undefined ? undefined : { left, held: new Set(held) };
    this.#uncounted.clear();
    for (const jobId of this.#jobs.keys()) this.#notice(jobId);
  }

  take(jobId: JobRunId): void {
    this.#hold(jobId, this.#now());
  }

  release(jobId: JobRunId): void {
    this.#jobs.delete(jobId);
    this.#released.add(jobId);
  }

  /**
   * Replaces the known jobs by those that `read` answers: the jobs that hold a slot according to the store or to the
   * agent. A job that takes or releases a slot while `read` is under way overrides the answer of `read`. When `read`
   * answers undefined, nothing changes.
   */
  async reconcile(read: () => Promise<readonly JobRunId[] | undefined>): Promise<void> {
    this.#released.clear();
    const startedAt = this.#now();
    const jobIds = await read();
    if (jobIds === undefined) return;
    const now = this.#now();
    for (const jobId of jobIds) if (!this.#released.has(jobId)) this.#hold(jobId, now);
    for (const [jobId, learntAt] of this.#jobs) if (learntAt < startedAt) this.#jobs.delete(jobId);
  }

  #hold(jobId: JobRunId, learntAt: number): void {
    this.#jobs.set(jobId, learntAt);
    this.#notice(jobId);
  }

  /** A job that the agent did not hold when it told how many jobs it takes is one of them. */
  #notice(jobId: JobRunId): void {
    if (this.#told?.held.has(jobId) === false) this.#uncounted.add(jobId);
  }
}
