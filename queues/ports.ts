/** The two sides of a mailbox as the rest of the system sees them: senders anywhere, one owner per shard. */
import type { AddressedMessage } from "./envelope.ts";

export interface MailboxSender {
  /** Resolves when Redis has the letter. Sends at once when no send to that shard is in flight, else with the next batch. */
  send(letter: AddressedMessage): Promise<void>;
  /** Like `send`, but the letter appears in its mailbox at `dueAt` (Unix milliseconds). `key` makes a repeat a no-op. */
  sendAt(letter: AddressedMessage, dueAt: number, key: string): Promise<void>;
  close(): Promise<void>;
}

/** What an owner of shards does with them. No method may throw for a reason that concerns one letter only. */
export interface ShardHandler {
  /** The shard is owned from now on; called before its first envelope is fetched. */
  open(shard: number, epoch: number): Promise<void>;
  /**
   * The shard's Redis was emptied or restarted, while it is owned or since its previous owner looked: what only Redis
   * knew is gone. Resolves when Redis has been told everything again. Until then the store remembers the old Redis, so
   * that an owner which dies half-way leaves the rest to the next one.
   */
  redisLost(shard: number): Promise<void>;
  /** Resolves when the letters are decided, or parked in memory; then the BullMQ job is completed. */
  receive(shard: number, letters: readonly AddressedMessage[]): Promise<void>;
  /** The shard is given up on purpose: nothing more is fetched; resolves when everything is saved and performed. */
  drain(shard: number): Promise<void>;
  /** The lease is lost: forget the shard at once, save and settle nothing more. Also follows `drain`. */
  close(shard: number): void;
}

/** Which Redis an owner worked on: a key that it wrote, and what its servers say of themselves (`run_id`s, the witness). */
export interface RedisMark {
  readonly generation: string;
  readonly redisRunId: string;
}

/** Where epochs come from: a store, since a counter in Redis would begin anew with an emptied Redis. */
export interface EpochSource {
  takeEpoch(shard: number): Promise<{ readonly epoch: number; readonly previous: RedisMark | null }>;
  recordRedis(shard: number, epoch: number, mark: RedisMark): Promise<void>;
}
