/** The two sides of a mailbox: senders on any node, and one owner for each shard. */
import type { AddressedMessage } from "./envelope.ts";

export interface MailboxSender {
  /**
   * Resolves when Redis has the message. Sends at once when no send to that shard is in flight, else with the next
   * batch.
   */
  send(message: AddressedMessage): Promise<void>;
  /**
   * Like `send`, but the message appears in its mailbox at `dueAt` (Unix milliseconds). A repeat with the same `key`
   * does nothing.
   */
  sendAt(message: AddressedMessage, dueAt: number, key: string): Promise<void>;
  close(): Promise<void>;
}

/** The work of an owner on its shards. No method may throw for a reason that concerns one message only. */
export interface ShardHandler {
  /**
   * This node owns the shard from now on, under this epoch. Called before the first envelope is fetched. Opening may
   * still be under way when the lease is lost and `close` is called; then it rejects.
   */
  open(shard: number, epoch: number): Promise<void>;
  /**
   * The shard's Redis was emptied or restarted, now or since the previous owner last checked: what only Redis knew is
   * gone. Resolves when Redis has been told everything again. Rejects when the shard was closed before that. Until it
   * resolves the store remembers the old Redis, so that the next owner recovers the shard when this one dies halfway.
   */
  redisLost(shard: number): Promise<void>;
  /** Resolves when the messages are decided, or parked in memory; then the BullMQ job is completed. */
  receive(shard: number, messages: readonly AddressedMessage[]): Promise<void>;
  /** The node gives the shard up: nothing more is fetched. Resolves when everything is saved and performed. */
  drain(shard: number): Promise<void>;
  /**
   * The lease is lost, or the shard is drained: forget the shard at once, and save and settle nothing more. Does nothing
   * when the shard is not open under this epoch. Idempotent.
   */
  close(shard: number, epoch: number): void;
}

/**
 * Identifies the Redis that an owner worked with: a key that the owner wrote, and the `run_id`s of its servers with the
 * witness.
 */
export interface RedisMark {
  readonly generation: string;
  readonly redisRunId: string;
}

/** A new epoch of a shard, and the Redis that the previous owner recorded; null when no owner has recorded one. */
export interface TakenEpoch {
  readonly epoch: number;
  readonly previous: RedisMark | null;
}

/** Issues epochs. The store does it, because a counter in Redis would start again at 1 after Redis was emptied. */
export interface EpochSource {
  /** A new epoch, greater than all before it and at least `least`. */
  takeEpoch(shard: number, least: number): Promise<TakenEpoch>;
  /** Stores that this Redis has been told everything; ignored for an epoch that is not the newest. */
  recordRedis(shard: number, epoch: number, mark: RedisMark): Promise<void>;
}

/** Issues epochs of many shards in few calls of the store. */
export interface EpochStore extends Pick<EpochSource, "recordRedis"> {
  /** A new epoch of each of the shards, as by `takeEpoch`. */
  takeEpochs(shards: readonly number[], least: number): Promise<ReadonlyMap<number, TakenEpoch>>;
}
