/**
 * Sending to mailboxes. A letter goes at once when no send to its shard is in flight; those that come meanwhile share
 * the next envelope, so that batches grow with the load and an idle system does not wait.
 */
import { Queue } from "bullmq";
import type { RedisClient } from "../src/redis/connect.ts";
import { type Envelope, UNVERSIONED_FORMAT, type AddressedMessage, type MessageFormat } from "./envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "./mailbox.ts";
import type { MailboxSender as Port } from "./ports.ts";
import { shardOf } from "./shard-map.ts";

/** Letters in one envelope at most. */
const BATCH_MAX = 64;

export interface MailboxSenderOptions {
  readonly redis: RedisClient;
  readonly shards: number;
  /** Without one, letters are sent as they are. */
  readonly format?: MessageFormat;
}

interface Waiting {
  readonly letter: AddressedMessage;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  readonly queue: Queue<Envelope>;
  waiting: Waiting[];
  sending: boolean;
}

export class MailboxSender implements Port {
  readonly #redis: RedisClient;
  readonly #shards: number;
  readonly #format: MessageFormat;
  readonly #lanes = new Map<number, Lane>();

  constructor({ redis, shards, format = UNVERSIONED_FORMAT }: MailboxSenderOptions) {
    this.#redis = redis;
    this.#shards = shards;
    this.#format = format;
    // Each mailbox listens to the one connection.
    redis.setMaxListeners(0);
  }

  send(letter: AddressedMessage): Promise<void> {
    const lane = this.#laneOf(letter.rootId);
    return new Promise((resolve, reject) => {
      lane.waiting.push({ letter, resolve, reject });
      if (!lane.sending) void this.#flush(lane);
    });
  }

  async sendAt(letter: AddressedMessage, dueAt: number, key: string): Promise<void> {
    const delay = Math.max(0, dueAt - Date.now());
    const jobId = key.replaceAll(":", "_");
    const lane = this.#laneOf(letter.rootId);
    try {
      await lane.queue.add(MESSAGES, this.#envelopeOf([letter]), { delay, jobId });
    } catch (error) {
      this.#drop(lane);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map(({ queue }) => queue.close()));
    this.#lanes.clear();
  }

  async #flush(lane: Lane): Promise<void> {
    lane.sending = true;
    while (lane.waiting.length > 0) {
      const batch = lane.waiting.splice(0, BATCH_MAX);
      try {
        await lane.queue.add(MESSAGES, this.#envelopeOf(batch.map(({ letter }) => letter)));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#drop(lane);
        for (const { reject } of batch) reject(error);
      }
    }
    lane.sending = false;
  }

  /** What has failed may be the state of the queue and not the command: the next letter gets a new one. */
  #drop(lane: Lane): void {
    for (const [shard, kept] of this.#lanes) if (kept === lane) this.#lanes.delete(shard);
    void lane.queue.close().catch(() => undefined);
  }

  #envelopeOf(letters: readonly AddressedMessage[]): Envelope {
    const schema = this.#format.writes();
    return { schema, letters: letters.map((letter) => this.#format.write(letter, schema)) };
  }

  #laneOf(rootId: string): Lane {
    const shard = shardOf(rootId, this.#shards);
    let lane = this.#lanes.get(shard);
    if (lane === undefined) {
      const queue = new Queue<Envelope>(mailboxName(shard), mailboxOptions(this.#redis, shard));
      // Failed commands reject where they were called; the connection reports its own outages.
      queue.on("error", () => undefined);
      lane = { queue, waiting: [], sending: false };
      this.#lanes.set(shard, lane);
    }
    return lane;
  }
}
