/**
 * Reads the envelopes of one mailbox, as its only reader. BullMQ's own worker polls Redis while it has jobs in hand.
 * This reader waits for the marker of the mailbox instead, which BullMQ sets whenever an envelope may wait.
 */
import { createRedisBackend, Job, type Queue } from "bullmq";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import type { Envelope } from "./envelope.ts";
import { mailboxName, mailboxOptions } from "./mailbox.ts";

export interface MailboxReaderOptions {
  readonly redis: RedisClient;
  readonly shard: number;
  /** The same mailbox, for commands that do not block. */
  readonly queue: Queue<Envelope>;
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
/**
 * Longest wait for a marker; after it the reader looks into the mailbox in any case, so that a lost marker costs no
 * more.
 */
const LONGEST_WAIT_MS = 5_000;
const SHORTEST_WAIT_MS = 2;
/** Pause after a failed command of Redis. */
const RETRY_MS = 500;

export class MailboxReader {
  readonly #options: MailboxReaderOptions;
  readonly #backend: ReturnType<typeof createRedisBackend>;
  /** Ids of the jobs that are fetched and not settled. */
  readonly #inHand = new Set<string>();
  readonly #reading: Promise<void>;
  #isClosing = false;
  #isAbandoned = false;
  /** Ends the wait for a marker. */
  #onClosing: (() => void) | undefined;
  /** Ends the wait of a close for the last fetch. */
  #onAbandoned: (() => void) | undefined;
  /** Called when the next envelope is settled. */
  #settledWaiters: (() => void)[] = [];

  /** Begins to read. */
  constructor(options: MailboxReaderOptions) {
    const { redis, shard, log } = options;
    this.#options = options;
    const name = mailboxName(shard);
    this.#backend = createRedisBackend(name, mailboxOptions(redis, shard), { withBlockingConnection: true });
    this.#backend.on("error", (error: Error) => log.debug({ shard, error: error.message }, "a mailbox command failed"));
    this.#reading = this.#read();
  }

  /** True for a job that is fetched and not settled. */
  holds(jobId: string): boolean {
    return this.#inHand.has(jobId);
  }

  /** Fetches nothing more. Resolves when everything in hand is settled, or at once when the reader is abandoned. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#onClosing?.();
    const abandoned = new Promise<void>((resolve) => (this.#onAbandoned = resolve));
    await Promise.race([this.#reading, abandoned]);
    while (this.#inHand.size > 0 && !this.#isAbandoned) await this.#nextSettled();
    await this.#backend.close(true);
  }

  /** Ends at once; envelopes in hand stay unsettled. */
  abandon(): void {
    this.#isClosing = this.#isAbandoned = true;
    this.#onClosing?.();
    this.#onAbandoned?.();
    this.#wakeSettledWaiters();
    void this.#backend.close(true).catch(() => undefined);
  }

  async #read(): Promise<void> {
    while (!this.#isClosing) {
      try {
        while (this.#inHand.size >= CONCURRENCY && !this.#isClosing) await this.#nextSettled();
        let dueAt = await this.#fetch();
        do dueAt = await this.#waitForMarker(dueAt);
        while (dueAt > Date.now() && !this.#isClosing);
      } catch (error) {
        if (this.#isClosing) return;
        this.#options.log.debug({ shard: this.#options.shard, error: String(error) }, "a mailbox cannot be read");
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Fetches one envelope, if any. Returns when the next delayed envelope is due, Unix milliseconds; 0 when none is
   * known.
   */
  async #fetch(): Promise<number> {
    const [data, id, , dueAt] = await this.#backend.moveToActive(NO_LOCK);
    if (!id) return dueAt ?? 0;
    if (!this.#isAbandoned) {
      this.#inHand.add(id);
      void this.#handle(Job.fromJSON<Envelope>(this.#options.queue, data, id));
    }
    // BullMQ leaves the marker set after a fetch, so the reader looks into the mailbox again at once.
    return 0;
  }

  /** Returns when to look into the mailbox next, Unix milliseconds; 0 for now. */
  async #waitForMarker(dueAt: number): Promise<number> {
    const leftMs = dueAt === 0 ? LONGEST_WAIT_MS : Math.min(LONGEST_WAIT_MS, dueAt - Date.now());
    if (leftMs <= 0 || this.#isClosing) return 0;
    const waited = this.#backend.waitForJob(Math.max(leftMs, SHORTEST_WAIT_MS) / 1_000);
    const marker = await new Promise<Awaited<typeof waited>>((resolve, reject) => {
      this.#onClosing = () => resolve(null);
      waited.then(resolve, reject);
    });
    // The score of a delayed envelope's marker says when it is due. Taking the marker has removed it.
    return marker === null ? 0 : Math.min(marker.score, dueAt || Infinity);
  }

  async #handle(job: Job<Envelope>): Promise<void> {
    const { receive, log, shard } = this.#options;
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
    this.#inHand.delete(job.id!);
    this.#wakeSettledWaiters();
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

  #nextSettled(): Promise<void> {
    return new Promise((resolve) => this.#settledWaiters.push(resolve));
  }

  #wakeSettledWaiters(): void {
    const waiters = this.#settledWaiters;
    this.#settledWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
