/** The slots of one agent: which jobs hold one, as the gateway that serves the agent knows it. */
import type { JobRunId } from "../domain/ids.ts";

export class Slots {
  readonly #count: number;
  readonly #now: () => number;
  /** Jobs that hold a slot, with the monotonic time at which the gateway last learnt that they do. */
  readonly #jobs = new Map<JobRunId, number>();
  /** Jobs that were released while {@link reconcile} read the store. */
  readonly #released = new Set<JobRunId>();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(count: number, now: () => number) {
    this.#count = count;
    this.#now = now;
  }

  get count(): number {
    return this.#count;
  }

  /** Slots that no job holds; may be negative after the agent has lowered its number of slots. */
  get free(): number {
    return this.#count - this.#jobs.size;
  }

  take(jobId: JobRunId): void {
    this.#jobs.set(jobId, this.#now());
  }

  release(jobId: JobRunId): void {
    this.#jobs.delete(jobId);
    this.#released.add(jobId);
  }

  /**
   * Replaces what is known by what `read` answers: the jobs that hold a slot by the store and by the agent. A job that takes a slot
   * or releases it while `read` is under way keeps what it did. `read` answers undefined to leave everything as it is.
   */
  async reconcile(read: () => Promise<readonly JobRunId[] | undefined>): Promise<void> {
    this.#released.clear();
    const startedAt = this.#now();
    const jobIds = await read();
    if (jobIds === undefined) return;
    const now = this.#now();
    for (const jobId of jobIds) if (!this.#released.has(jobId)) this.#jobs.set(jobId, now);
    for (const [jobId, learntAt] of this.#jobs) if (learntAt < startedAt) this.#jobs.delete(jobId);
  }
}
