/** Ends of runs and of steps, told by a message of Redis: what a caller waits for. */
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

/** Tells on channel `name` of each job that the worker has completed (in Redis, that is) or failed; `data.id` names it. */
export function tellEnds<T extends { readonly id: string }>(worker: Worker<T>, redis: Redis, name: string): void {
  const tell = (end: End): void => void redis.publish(name, JSON.stringify(end));
  worker.on("completed", ({ data: { id } }) => tell({ id }));
  worker.on("failed", (job, { message }) => {
    if (job !== undefined) tell({ id: job.data.id, fault: message });
  });
}

export class Ends {
  readonly #waiters = new Map<string, Waiter>();

  private constructor() {}

  /** Listens on channel `name`, with a connection for this alone. */
  static async listen(subscriber: Redis, name: string): Promise<Ends> {
    const ends = new Ends();
    subscriber.on("message", (_, text) => ends.#settle(JSON.parse(text) as End));
    await subscriber.subscribe(name);
    return ends;
  }

  /** Must be called before the job is added; rejects when the job fails. */
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
