/**
 * Facts that nodes tell each other about themselves through Redis, beside the members. A node of an older release tells
 * none, and no node depends on the facts of another: a missing fact changes nothing.
 */
import type { RedisClient } from "../src/redis/connect.ts";
import { redisScript, runScript } from "../src/redis/redis-script.ts";

/*
 * Tells a fact of a node, unless it is empty, and removes facts that are too old.
 *
 * KEYS[1] hash of facts by node, each after the time at which it was told
 * ARGV[1] node   ARGV[2] fact, a number   ARGV[3] milliseconds after which a fact is too old
 * Answers { time of Redis, { node, fact, node, fact ... } }.
 */
const TELL = redisScript(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[2] ~= "" then redis.call("HSET", KEYS[1], ARGV[1], string.format("%d ", now) .. ARGV[2]) end
local told = {}
local all = redis.call("HGETALL", KEYS[1])
for at = 1, #all, 2 do
  local since, fact = string.match(all[at + 1], "^(%d+) (.+)$")
  if since and tonumber(since) > now - ARGV[3] then
    told[#told + 1] = all[at]
    told[#told + 1] = fact
  else
    redis.call("HDEL", KEYS[1], all[at])
  end
end
return { now, told }`);

export interface ToldFacts {
  /** Unix milliseconds by the clock of Redis. */
  readonly redisNow: number;
  /** By node id, without the node that asked. */
  readonly others: ReadonlyMap<string, number>;
}

export interface Fact {
  /** The hash of all facts of this kind. */
  readonly key: string;
  readonly nodeId: string;
  /** A whole number; null tells nothing, and a fact that was told before stays until it is too old. */
  readonly value: number | null;
  readonly ttlMs: number;
}

/** Tells the fact of one node, and answers those of the others. Rejects when Redis cannot be reached. */
export async function tellFact(redis: RedisClient, { key, nodeId, value, ttlMs }: Fact): Promise<ToldFacts> {
  const text = value === null ? "" : String(value);
  const [redisNow, told] = (await runScript(redis, TELL, [key], [nodeId, text, ttlMs])) as [number, string[]];
  const others = new Map<string, number>();
  for (let at = 0; at < told.length; at += 2) if (told[at] !== nodeId) others.set(told[at]!, Number(told[at + 1]));
  return { redisNow, others };
}
