/**
 * Work that steps register for the end of their job, such as keeping a cache. The agent does it in the background,
 * after the job has succeeded and before the job's workspace is removed.
 */
import { LONGEST_TIMER_MS } from "../../domain/clock.ts";

/** Never rejects. `signal` is aborted when the agent stops, or when the work of the job takes too long. */
export type AfterJobWork = (signal: AbortSignal) => Promise<void>;

/** The same work, which has the timeout of its step for itself; 0 for none. */
export function withTimeout(work: AfterJobWork, timeoutMs: number): AfterJobWork {
  if (timeoutMs <= 0) return work;
  return async (signal) => {
    const tooLong = new AbortController();
    const reason = new Error(`it takes longer than the step's timeout of ${timeoutMs} ms`);
    const timer = setTimeout(() => tooLong.abort(reason), Math.min(timeoutMs, LONGEST_TIMER_MS));
    await work(AbortSignal.any([signal, tooLong.signal])).finally(() => clearTimeout(timer));
  };
}

export class AfterJobs {
  readonly #maxMs: number;
  /** Registered work by job and step run. */
  readonly #registered = new Map<string, Map<string, AfterJobWork>>();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  /** `maxMs` bounds the whole work of one job. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Registers work. It replaces earlier work of the same step run. */
  add(jobId: string, stepRunId: string, work: AfterJobWork): void {
    const ofJob = this.#registered.get(jobId) ?? new Map<string, AfterJobWork>();
    this.#registered.set(jobId, ofJob.set(stepRunId, work));
  }

  /**
   * Ends a job. The work of a job that has succeeded is done, one piece after the other; that of any other job is
   * dropped. When the promise resolves, the workspace may be removed.
   */
  end(jobId: string, hasSucceeded: boolean): Promise<void> {
    const works = hasSucceeded ? [...(this.#registered.get(jobId)?.values() ?? [])] : [];
    this.#registered.delete(jobId);
    if (works.length === 0) return Promise.resolve();
    const done = this.#do(works).finally(() => this.#running.delete(done));
    this.#running.add(done);
    return done;
  }

  /** Resolves when no work is running. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Aborts the running work, and resolves when it has ended. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the agent was stopped"));
    await this.whenIdle();
  }

  async #do(works: readonly AfterJobWork[]): Promise<void> {
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(new Error("it takes too long")), this.#maxMs);
    const signal = AbortSignal.any([this.#closing.signal, tooLong.signal]);
    for (const work of works) await work(signal);
    clearTimeout(timer);
  }
}
