/** Names and options that every side of a mailbox must agree on. */
import type { QueueOptions } from "bullmq";
import type { RedisClient } from "../src/redis/connect.ts";

/** The mailbox's name; with the prefix every key of a shard carries one hash tag, so that it lives on one Redis node. */
export function mailboxName(shard: number): string {
  return `mb${shard}`;
}

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
    // The stream of events cannot be switched off; nobody reads it.
    streams: { events: { maxLen: 100 } },
  };
}

/** Names of the jobs in a mailbox. */
export const MESSAGES = "letters";
export const CANARY = "canary";
