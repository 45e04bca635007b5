/**
 * The wake-up key of a node: a sorted set of words that other nodes tell it. The node waits for a word together with
 * the markers of its mailboxes, so the same blocking connection wakes it for both. A word is a hint that may be lost.
 */
import type { RedisClient } from "../src/redis/connect.ts";
import { redisScript, runScript } from "../src/redis/redis-script.ts";

/**
 * What one node tells another:
 * - `members`: the members have changed; compute now which shards this node should own.
 * - `free:<shard>`: the lease of the shard was given back for this node.
 * - `mail:<shard>`: the shard's mailbox has an envelope.
 * - `look`: nothing; it ends the wait, so that the node can wait for other keys.
 */
export type Word = "members" | `free:${number}` | `mail:${number}` | "look";

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

/** The shard of a word `kind:<shard>`; undefined for every other word. */
export function shardIn(kind: "free" | "mail", word: string): number | undefined {
  return word.startsWith(`${kind}:`) ? Number(word.slice(kind.length + 1)) : undefined;
}
