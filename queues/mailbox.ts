/** Names and options on which senders, readers and inspection of a mailbox must agree. */
import type { QueueOptions } from "bullmq";
import type { RedisClient } from "../src/redis/connect.ts";

/** Name of the BullMQ queue of a shard. */
export function mailboxName(shard: number): string {
  return `mb${shard}`;
}

/** The hash tag of all keys of a shard, which puts them on the same Redis node of a cluster. */
export function shardTag(shard: number): string {
  return `{mb${shard}}`;
}

export function mailboxOptions(connection: RedisClient, shard: number): QueueOptions {
  return {
    connection,
    prefix: shardTag(shard),
    skipVersionCheck: true,
    skipMetasUpdate: true,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: false, attempts: 1 },
    // BullMQ's stream of events cannot be switched off, and no part of the system reads it.
    streams: { events: { maxLen: 100 } },
  };
}

/** Name of the BullMQ jobs that carry messages. The value is part of the format between nodes, so it stays. */
export const MESSAGES = "letters";
/** Name of the BullMQ jobs with which an owner checks that its mailbox works. */
export const CANARY = "canary";
