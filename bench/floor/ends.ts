/** Ends of runs and steps, published over Redis to the callers that wait for them. */
import type { Worker } from "bullmq";
import type { Redis } from "ioredis";

interface End {
  readonly id: string;
  readonly fault?: string;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Publishes the id (`data.id`) of each job that the worker has completed or failed, on channel `name`. */
export function publishEnds<T extends { readonly id: string }>(worker: Worker<T>, redis: Redis, name: string): void {
  const publish = (end: End): void => void redis.publish(name, JSON.stringify(end));
  worker.on("completed", ({ data: { id } }) => publish({ id }));
  worker.on("failed", (job, { message }) => {
    if (job !== undefined) publish({ id: job.data.id, fault: message });
  });
}

export class Ends {
  readonly #waiters = new Map<string, Waiter>();

  private constructor() {}

  /** Listens on channel `name`. `subscriber` is a connection for this use only. */
  static async listen(subscriber: Redis, name: string): Promise<Ends> {
    const ends = new Ends();
    subscriber.on("message", (_, text) => ends.#settle(JSON.parse(text) as End));
    await subscriber.subscribe(name);
    return ends;
  }

  /** Resolves at the end of the job `id`, and rejects when the job fails. Must be called before the job is added. */
  of(id: string): Promise<void> {
    return new Promise((resolve, reject) => this.#waiters.set(id, { resolve, reject }));
  }

  #settle({ id, fault }: End): void {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    if (fault === undefined) waiter?.resolve();
    else waiter?.reject(new Error(fault));
  }
}
