/**
 * Sends messages to the owners of their shards. An owner in this process gets them in memory: a trip through Redis would
 * cost as much as deciding them. For any other owner they go into the mailbox of the shard. A message goes there at once when no send to its shard is in flight. Messages that come during
 * a send share the next envelope, so batches grow with the load, and an idle system does not wait.
 */
import { Queue } from "bullmq";
import type { RedisClient } from "../src/redis/connect.ts";
import { type Envelope, UNVERSIONED_FORMAT, type AddressedMessage, type MessageFormat } from "./envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "./mailbox.ts";
import { OwnerBell } from "./owner-bell.ts";
import type { MailboxSender as Port, OwnedHere } from "./ports.ts";
import { shardOf } from "./shard-map.ts";

/** Messages in one envelope at most. */
const BATCH_MAX = 64;

export interface MailboxSenderOptions {
  readonly redis: RedisClient;
  readonly shards: number;
  /** Absent: messages are sent as they are. */
  readonly format?: MessageFormat;
}

interface Waiting {
  readonly message: AddressedMessage;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Everything that is sent to one shard. */
interface Lane {
  readonly shard: number;
  readonly queue: Queue<Envelope>;
  waiting: Waiting[];
  sending: boolean;
}

export class MailboxSender implements Port {
  readonly #redis: RedisClient;
  readonly #shards: number;
  readonly #format: MessageFormat;
  readonly #bell: OwnerBell;
  readonly #lanes = new Map<number, Lane>();
  #ownedHere: OwnedHere | undefined;

  constructor({ redis, shards, format = UNVERSIONED_FORMAT }: MailboxSenderOptions) {
    this.#redis = redis;
    this.#shards = shards;
    this.#format = format;
    this.#bell = new OwnerBell(redis);
    // Every mailbox adds a listener to this one connection.
    redis.setMaxListeners(0);
  }

  /** From now on, messages go to the shards that are owned here without the mailbox. */
  preferOwner(owner: OwnedHere): void {
    this.#ownedHere = owner;
  }

  send(message: AddressedMessage): Promise<void> {
    const taken = this.#ownedHere?.take(shardOf(message.rootId, this.#shards), message);
    if (taken === undefined) return this.#mail(message);
    taken.then((isDone) => (isDone ? undefined : this.#mail(message))).catch(() => undefined);
    return Promise.resolve();
  }

  #mail(message: AddressedMessage): Promise<void> {
    const lane = this.#laneOf(message.rootId);
    return new Promise((resolve, reject) => {
      lane.waiting.push({ message, resolve, reject });
      if (!lane.sending) void this.#flush(lane);
    });
  }

  async sendAt(message: AddressedMessage, dueAt: number, key: string): Promise<void> {
    const delay = Math.max(0, dueAt - Date.now());
    const jobId = key.replaceAll(":", "_");
    const lane = this.#laneOf(message.rootId);
    try {
      await lane.queue.add(MESSAGES, this.#envelopeOf([message]), { delay, jobId });
      this.#bell.ring(lane.shard);
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
        await lane.queue.add(MESSAGES, this.#envelopeOf(batch.map(({ message }) => message)));
        this.#bell.ring(lane.shard);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#drop(lane);
        for (const { reject } of batch) reject(error);
      }
    }
    lane.sending = false;
  }

  /** Drops the queue after a failure, because the queue itself may be broken: the next message opens a new one. */
  #drop(lane: Lane): void {
    for (const [shard, kept] of this.#lanes) if (kept === lane) this.#lanes.delete(shard);
    void lane.queue.close().catch(() => undefined);
  }

  #envelopeOf(messages: readonly AddressedMessage[]): Envelope {
    const schema = this.#format.writes();
    return { schema, letters: messages.map((message) => this.#format.write(message, schema)) };
  }

  #laneOf(rootId: string): Lane {
    const shard = shardOf(rootId, this.#shards);
    let lane = this.#lanes.get(shard);
    if (lane === undefined) {
      const queue = new Queue<Envelope>(mailboxName(shard), mailboxOptions(this.#redis, shard));
      // A failed command rejects for its caller, and the connection reports its own outages: this event adds nothing.
      queue.on("error", () => undefined);
      lane = { shard, queue, waiting: [], sending: false };
      this.#lanes.set(shard, lane);
    }
    return lane;
  }
}
