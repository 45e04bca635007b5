/**
 * Reads the envelopes of one mailbox, as its only reader. The joint reader of the node says when to fetch, because it
 * waits for the markers of all mailboxes. BullMQ's own worker would need a blocking connection for each mailbox, and
 * polls Redis while it has jobs in hand.
 */
import { Job, type Queue } from "bullmq";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../src/domain/logger.ts";
import type { Envelope } from "./envelope.ts";
import type { JointReader, ReadMailbox } from "./joint-reader.ts";

export interface MailboxReaderOptions {
  readonly shard: number;
  /** The mailbox. */
  readonly queue: Queue<Envelope>;
  readonly joint: Pick<JointReader, "add" | "remove" | "onRoom">;
  /**
   * Resolves when the envelope is done with. Rejects when the envelope cannot be read: the reader then keeps it as
   * failed.
   */
  readonly receive: (job: Job<Envelope>) => Promise<void>;
  readonly log: Logger;
}

/** Envelopes that are fetched and not settled, at most. */
const CONCURRENCY = 64;
/** BullMQ's word for "no lock". The lease of the shard says which node may read the mailbox. */
const NO_LOCK = "0";
/** Pause after a failed command of Redis. */
const RETRY_MS = 500;

export class MailboxReader implements ReadMailbox {
  readonly #options: MailboxReaderOptions;
  readonly #backend: ReturnType<Queue<Envelope>["getBackend"]>;
  /** Ids of the jobs that are fetched and not settled. */
  readonly #inHand = new Set<string>();
  #fetching = 0;
  #isClosing = false;
  #isAbandoned = false;
  /** Called when the next envelope is settled, and when a fetch has ended. */
  #waiters: (() => void)[] = [];

  /** Begins to read. */
  constructor(options: MailboxReaderOptions) {
    this.#options = options;
    this.#backend = options.queue.getBackend();
    options.joint.add(this);
  }

  get shard(): number {
    return this.#options.shard;
  }

  get room(): number {
    return this.#isClosing ? 0 : Math.max(0, CONCURRENCY - this.#inHand.size - this.#fetching);
  }

  /** Number of envelopes that are fetched and not settled. */
  get inHand(): number {
    return this.#inHand.size;
  }

  /** True for a job that is fetched and not settled. */
  holds(jobId: string): boolean {
    return this.#inHand.has(jobId);
  }

  /** Fetches nothing more. Resolves when everything in hand is settled, or at once when the reader is abandoned. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#options.joint.remove(this);
    while (this.#fetching + this.#inHand.size > 0 && !this.#isAbandoned) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Ends at once; envelopes in hand stay unsettled. */
  abandon(): void {
    this.#isClosing = this.#isAbandoned = true;
    this.#options.joint.remove(this);
    this.#wakeWaiters();
  }

  async fetch(): Promise<number> {
    this.#fetching++;
    try {
      const [data, id, , dueAt] = await this.#backend.moveToActive(NO_LOCK);
      if (!id) return dueAt ?? 0;
      if (!this.#isAbandoned) {
        this.#inHand.add(id);
        void this.#handle(Job.fromJSON<Envelope>(this.#options.queue, data, id));
      }
      return 0;
    } finally {
      this.#fetching--;
      this.#wakeWaiters();
    }
  }

  async #handle(job: Job<Envelope>): Promise<void> {
    const { receive, log, shard, joint } = this.#options;
    let failure: Error | undefined;
    try {
      await receive(job);
    } catch (error) {
      failure = error as Error;
      log.error(
        { shard, job: job.id, error: failure.message },
        "an envelope could not be read; it is kept as failed until the shard has another owner",
      );
    }
    while (!this.#isAbandoned && !(await this.#settle(job, failure))) await sleep(RETRY_MS);
    const wasFull = this.room === 0;
    this.#inHand.delete(job.id!);
    if (wasFull && !this.#isClosing) joint.onRoom(this);
    this.#wakeWaiters();
  }

  async #settle(job: Job<Envelope>, failure: Error | undefined): Promise<boolean> {
    try {
      if (failure === undefined) await job.moveToCompleted(null as never, NO_LOCK, false);
      else await job.moveToFailed(failure, NO_LOCK, false);
      return true;
    } catch (error) {
      const { log, shard } = this.#options;
      log.debug({ shard, job: job.id, error: String(error) }, "an envelope cannot be settled; trying again");
      // Redis was emptied, or another node has returned the envelope to the mailbox: it is no longer this reader's to
      // settle.
      return /Missing key|not in the active state/.test(String(error));
    }
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
