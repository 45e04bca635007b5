/**
 * Takes the envelopes of one mailbox, as its only reader. BullMQ's own worker asks Redis again and again while it has jobs
 * in hand; here the marker of a mailbox, which is set whenever something may wait in it, says when to look.
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
  /** Resolves when the envelope may be forgotten; rejects when it cannot be read, and then it is kept as failed. */
  readonly receive: (job: Job<Envelope>) => Promise<void>;
  readonly log: Logger;
}

/** Envelopes in hand at a time. */
const CONCURRENCY = 64;
/** BullMQ's word for "no lock": whose the mailbox is, is told by the lease of its shard. */
const NO_LOCK = "0";
/** Bounds what a lost marker costs. */
const LONGEST_WAIT_MS = 5_000;
const SHORTEST_WAIT_MS = 2;
const RETRY_MS = 500;

export class MailboxReader {
  readonly #options: MailboxReaderOptions;
  readonly #backend: ReturnType<typeof createRedisBackend>;
  readonly #inHand = new Set<string>();
  readonly #reading: Promise<void>;
  #isClosing = false;
  #isAbandoned = false;
  /** Ends the wait for a marker. */
  #onClosing: (() => void) | undefined;
  /** Ends the wait of a close for the last fetch. */
  #onAbandoned: (() => void) | undefined;
  /** Those who wait for an envelope to be settled. */
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

  /** True for a job that has been fetched and is not settled yet. */
  holds(jobId: string): boolean {
    return this.#inHand.has(jobId);
  }

  /** Fetches nothing more, and resolves when everything in hand is settled, or at once when it is abandoned. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#onClosing?.();
    const abandoned = new Promise<void>((resolve) => (this.#onAbandoned = resolve));
    await Promise.race([this.#reading, abandoned]);
    while (this.#inHand.size > 0 && !this.#isAbandoned) await this.#nextSettled();
    await this.#backend.close(true);
  }

  /** Ends at once; what is in hand stays unsettled. */
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

  /** Takes one envelope, if any, and answers when the next delayed one is due, 0 for none that is known. */
  async #fetch(): Promise<number> {
    const [data, id, , dueAt] = await this.#backend.moveToActive(NO_LOCK);
    if (!id) return dueAt ?? 0;
    if (!this.#isAbandoned) {
      this.#inHand.add(id);
      void this.#handle(Job.fromJSON<Envelope>(this.#options.queue, data, id));
    }
    // Whoever takes an envelope leaves the marker set: the next look finds what else waits.
    return 0;
  }

  /** Answers when to look into the mailbox, Unix milliseconds. */
  async #waitForMarker(dueAt: number): Promise<number> {
    const leftMs = dueAt === 0 ? LONGEST_WAIT_MS : Math.min(LONGEST_WAIT_MS, dueAt - Date.now());
    if (leftMs <= 0 || this.#isClosing) return 0;
    const waited = this.#backend.waitForJob(Math.max(leftMs, SHORTEST_WAIT_MS) / 1_000);
    const marker = await new Promise<Awaited<typeof waited>>((resolve, reject) => {
      this.#onClosing = () => resolve(null);
      waited.then(resolve, reject);
    });
    // The marker of a delayed envelope says when it is due, and is gone now.
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
      // Redis has forgotten it, or somebody has given it back: then it is no longer this reader's.
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
