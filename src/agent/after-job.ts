/** What steps have left to be done once their job has succeeded: in the background, and before its workspace goes. */

/** Aborted when the agent does not wait for it any longer. Never rejects. */
export type LastWork = (signal: AbortSignal) => Promise<void>;

export class AfterJobs {
  readonly #longestMs: number;
  /** By job, and by the step run that has left it. */
  readonly #left = new Map<string, Map<string, LastWork>>();
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  /** `longestMs` is what all work of one job may take. */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** In place of what the same step run has left before. */
  add(jobId: string, stepRunId: string, work: LastWork): void {
    const ofJob = this.#left.get(jobId) ?? new Map<string, LastWork>();
    this.#left.set(jobId, ofJob.set(stepRunId, work));
  }

  /** Does the work of a job that has succeeded, one after the other, and forgets that of any other; then its workspace may go. */
  end(jobId: string, hasSucceeded: boolean): Promise<void> {
    const works = hasSucceeded ? [...(this.#left.get(jobId)?.values() ?? [])] : [];
    this.#left.delete(jobId);
    if (works.length === 0) return Promise.resolve();
    const done = this.#do(works).finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
    return done;
  }

  /** Resolves when nothing is under way. */
  async whenIdle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Has what is under way give up; resolves when it has. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the agent was stopped"));
    await this.whenIdle();
  }

  async #do(works: readonly LastWork[]): Promise<void> {
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(new Error("it takes too long")), this.#longestMs);
    const signal = AbortSignal.any([this.#closing.signal, tooLong.signal]);
    for (const work of works) await work(signal);
    clearTimeout(timer);
  }
}
