/**
 * The wake-up key of a node: a sorted set of words that other nodes tell it. The node waits for a word together with
 * the markers of its mailboxes, so the same blocking connection wakes it for both. A word is a hint that may be lost.
 */
import type { RedisClient } from "../src/redis/connect.ts";
import { redisScript, runScript } from "../src/redis/redis-script.ts";

/**
 * What one node tells another:
 * - `members`: the members have changed; compute now which shards this node should own.
 * - `free:<shard>:<node>`: that node has given back the lease of the shard for this node.
 * - `taken:<shard>`: this node's successor has opened the shard.
 * - `mail:<shard>`: the shard's mailbox has an envelope.
 * - `look`: nothing; it ends the wait, so that the node can wait for other keys.
 */
export type Word = "members" | `free:${number}:${string}` | `taken:${number}` | `mail:${number}` | "look";

/** Words for a node that is gone must not stay. */
const KEPT_MS = 10_000;

/*
 * KEYS[1] wake-up key   ARGV[1] milliseconds after which the key goes   ARGV[2] word
 */
const RING = redisScript(`
redis.call("ZADD", KEYS[1], 0, ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[1])`);

/** The key has a hash tag of its own, so that the keys of the nodes spread over the masters of a cluster. */
export function wakeKey(nodeId: string): string {
  return `{millrace:${nodeId}}:wake`;
}

/** Tells a node a word, once or more. */
export async function ring(redis: RedisClient, nodeId: string, word: Word): Promise<void> {
  await runScript(redis, RING, [wakeKey(nodeId)], [KEPT_MS, word]);
}

/** A word about a shard. `from` is empty unless the word names a node. */
export interface ShardWord {
  readonly kind: "free" | "taken" | "mail";
  readonly shard: number;
  readonly from: string;
}

/** Undefined for a word that is about no shard. */
export function shardWord(word: string): ShardWord | undefined {
  const [, kind, shard, from = ""] = /^(free|taken|mail):(\d+)(?::(.*))?$/.exec(word) ?? [];
  return kind === undefined ? undefined : { kind: kind as ShardWord["kind"], shard: Number(shard), from };
}
