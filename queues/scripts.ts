/** Membership of nodes and leases of shards, as Lua scripts that each run atomically on Redis. */
import type { RedisClient } from "../src/redis/connect.ts";

/*
 * Renews the membership of a node, and removes silent members.
 *
 * KEYS[1] sorted set of members by the time of their last beat
 * ARGV[1] member   ARGV[2] milliseconds after which a silent one is no member
 * Answers the live members.
 */
export const BEAT = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[1], now, ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - ARGV[2])
return redis.call("ZRANGE", KEYS[1], 0, -1)`;

/*
 * Renews a lease that the holder still has; never creates one.
 *
 * KEYS[1] lease   KEYS[2] generation of this Redis for the shard
 * ARGV[1] holder   ARGV[2] lease in milliseconds
 * Answers { 1 when renewed else 0, the generation or "" }.
 */
const RENEW = `
local held = 0
if redis.call("GET", KEYS[1]) == ARGV[1] then held = redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
return { held, redis.call("GET", KEYS[2]) or "" }`;

/*
 * Deletes a lease that the holder still has.
 *
 * KEYS[1] lease   ARGV[1] holder
 * Answers 1 when the lease was deleted, else 0.
 */
const RELEASE = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

const MEMBERS = "{millrace}:members";

/** Renews the membership of a node, and returns the live members; a member that is silent for `ttlMs` is removed. */
export async function beat(redis: RedisClient, nodeId: string, ttlMs: number): Promise<readonly string[]> {
  return (await redis.eval(BEAT, 1, MEMBERS, nodeId, ttlMs)) as string[];
}

/** Ends the membership of a node. */
export async function leave(redis: RedisClient, nodeId: string): Promise<void> {
  await redis.zrem(MEMBERS, nodeId);
}

/**
 * Renews a lease for `ttlMs`. `held`: the holder had it still. `generation`: the one in Redis; empty when Redis was
 * emptied.
 */
export async function renewLease(
  redis: RedisClient,
  keys: { readonly lease: string; readonly generation: string },
  holder: string,
  ttlMs: number,
): Promise<{ readonly held: boolean; readonly generation: string }> {
  const [held, generation] = (await redis.eval(RENEW, 2, keys.lease, keys.generation, holder, ttlMs)) as [
    number,
    string,
  ];
  return { held: held === 1, generation };
}

/** Gives a lease back; does nothing when another node holds it. */
export async function releaseLease(redis: RedisClient, lease: string, holder: string): Promise<void> {
  await redis.eval(RELEASE, 1, lease, holder);
}
