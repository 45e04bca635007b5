/** Membership of nodes and leases of shards, as Lua scripts that each run atomically on Redis. */
import type { RedisClient } from "../src/redis/connect.ts";
import { redisScript, runScript } from "../src/redis/redis-script.ts";

/*
 * Renews the membership of a node, and removes silent members.
 *
 * KEYS[1] sorted set of members by the time of their last beat
 * ARGV[1] member   ARGV[2] milliseconds after which a silent one is no member
 * Answers { milliseconds since the oldest beat of a live member, { live member ... } }.
 */
const BEAT = redisScript(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[1], now, ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - ARGV[2])
local oldest = redis.call("ZRANGE", KEYS[1], 0, 0, "WITHSCORES")
return { now - oldest[2], redis.call("ZRANGE", KEYS[1], 0, -1) }`);

/*
 * Renews the leases that the holder still has; never creates one. Makes the witness when it is missing.
 *
 * KEYS[1] the witness; the lease of the one shard when there is no witness
 * ARGV[1] holder   ARGV[2] lease in milliseconds   ARGV[3] value of a witness that is missing; empty for no witness
 * ARGV[4] for each shard: lease, generation of this Redis for the shard; all of them with a space behind each. A node asks this
 *         every second about many shards, and an argument or an answer for each key would cost more than the work
 * Answers the value of the witness or ""; the generations, with spaces between them, each empty when Redis has none; and the
 * places of the shards, from 0, whose lease the holder does not have.
 */
const RENEW = redisScript(`
local witness = ""
if ARGV[3] ~= "" then witness = redis.call("SET", KEYS[1], ARGV[3], "NX", "GET") or ARGV[3] end
local leases, generations, count, lost = {}, {}, 0, {}
for lease, generation in string.gmatch(ARGV[4], "(%S+) (%S+) ") do
  count = count + 1
  leases[count], generations[count] = lease, generation
end
if count == 0 then return { witness, "", lost } end
local holders, stored = redis.call("MGET", unpack(leases)), redis.call("MGET", unpack(generations))
for i = 1, count do
  if holders[i] ~= ARGV[1] or redis.call("PEXPIRE", leases[i], ARGV[2]) == 0 then lost[#lost + 1] = i - 1 end
  if not stored[i] then stored[i] = "" end
end
return { witness, table.concat(stored, " "), lost }`);

/*
 * Deletes a lease that the holder still has.
 *
 * KEYS[1] lease   ARGV[1] holder
 * Answers 1 when the lease was deleted, else 0.
 */
const RELEASE = redisScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`);

const MEMBERS = "{millrace}:members";

export interface Membership {
  readonly members: readonly string[];
  /** For how long the most silent member has not renewed its membership, milliseconds. */
  readonly silentMs: number;
}

/** Renews the membership of a node, and returns the live members; a member that is silent for `ttlMs` is removed. */
export function beat(redis: RedisClient, nodeId: string, ttlMs: number): Promise<Membership> {
  return beatIn(redis, MEMBERS, nodeId, ttlMs);
}

/** The same in another sorted set of members. */
export async function beatIn(redis: RedisClient, key: string, member: string, ttlMs: number): Promise<Membership> {
  const [silentMs, members] = (await runScript(redis, BEAT, [key], [member, ttlMs])) as [number, string[]];
  return { members, silentMs };
}

/** Ends the membership of a node, and returns the members that are left. */
export async function leave(redis: RedisClient, nodeId: string): Promise<readonly string[]> {
  await redis.zrem(MEMBERS, nodeId);
  return redis.zrange(MEMBERS, "0", "-1");
}

/** The Redis keys of one shard's ownership. */
export interface LeaseKeys {
  readonly lease: string;
  readonly generation: string;
}

/** `held`: the holder had the lease still. `generation`: the one in Redis; empty when Redis was emptied. */
export interface Renewal {
  readonly held: boolean;
  readonly generation: string;
}

/** A key that is made when it is missing, with the value that it gets then. */
export interface Witness {
  readonly key: string;
  readonly value: string;
}

export interface Renewals {
  /** The value of the witness; empty when none was given. */
  readonly witness: string;
  /** One for each shard. */
  readonly renewals: readonly Renewal[];
}

/**
 * Renews leases for `ttlMs` and reads the witness, all in one call. On a cluster, the keys of two shards, and of a shard and
 * the witness, lie in several slots: there, a call is for one shard and no witness.
 */
export async function renewLeases(
  redis: RedisClient,
  shards: readonly LeaseKeys[],
  { holder, ttlMs, witness }: { readonly holder: string; readonly ttlMs: number; readonly witness: Witness | null },
): Promise<Renewals> {
  const first = witness === null ? shards[0]!.lease : witness.key;
  let keys = "";
  for (const { lease, generation } of shards) keys += `${lease} ${generation} `;
  const answer = await runScript(redis, RENEW, [first], [holder, ttlMs, witness?.value ?? "", keys]);
  const [value, generations, lost] = answer as [string, string, readonly number[]];
  const found = generations.split(" ");
  return {
    witness: value,
    renewals: shards.map((_, at) => ({ held: !lost.includes(at), generation: found[at]! })),
  };
}

/*
 * KEYS    lists
 * Answers two numbers for each list that is not empty: its place among the keys, from 0, and its length.
 */
const LENGTHS = redisScript(`
local answer = {}
for i = 1, #KEYS do
  local length = redis.call("LLEN", KEYS[i])
  if length > 0 then
    answer[#answer + 1] = i - 1
    answer[#answer + 1] = length
  end
end
return answer`);

/** The length of each list, in one call; on a cluster each in its own. */
export async function lengthsOf(redis: RedisClient, lists: readonly string[]): Promise<readonly number[]> {
  if (redis.isCluster) return Promise.all(lists.map((list) => redis.llen(list)));
  const lengths = lists.map(() => 0);
  const found = lists.length === 0 ? [] : ((await runScript(redis, LENGTHS, lists, [])) as readonly number[]);
  for (let at = 0; at < found.length; at += 2) lengths[found[at]!] = found[at + 1]!;
  return lengths;
}

/** Gives a lease back; does nothing when another node holds it. */
export async function releaseLease(redis: RedisClient, lease: string, holder: string): Promise<void> {
  await runScript(redis, RELEASE, [lease], [holder]);
}
