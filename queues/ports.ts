/** The two sides of a mailbox: senders on any node, and one owner for each shard. */
import type { AddressedMessage } from "./envelope.ts";

export interface MailboxSender {
  /**
   * Resolves when the owner of the shard in this process has the message in memory, or else when Redis has it. Either may
   * lose it: who needs the effect sends again, or stores what the owner's sweep finds.
   */
  send(message: AddressedMessage): Promise<void>;
  /**
   * The message appears in its mailbox, which is in Redis, at `dueAt` (Unix milliseconds). A repeat with the same `key`
   * does nothing.
   */
  sendAt(message: AddressedMessage, dueAt: number, key: string): Promise<void>;
  close(): Promise<void>;
}

/** Shards that are owned in the same process as a sender. */
export interface OwnedHere {
  /**
   * Hands a message to its shard, past the mailbox. Undefined when this process does not own the shard, or has too much to
   * do on it: the message belongs in the mailbox. Else resolves when the owner is done with it, with `false` when the
   * shard was given up before: the message belongs in the mailbox then, too.
   */
  take(shard: number, message: AddressedMessage): Promise<boolean> | undefined;
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
