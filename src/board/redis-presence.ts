/** Presence on Redis: the newest sign of life of each agent, timed by Redis' own clock. */
import type { AgentId } from "../domain/ids.ts";
import type { Presence, PresenceRecord } from "./board.ts";
import { type BoardRedis, redisScript, runScript } from "../redis/redis-script.ts";

/** A record that was not renewed for this long is removed. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

/** How long an agent is listed as lost. */
const LOST_FOR_MS = 24 * 3_600_000;

const KEYS = ["records", "times", "beats", "lost"].map((name) => `{presence}:${name}`);

/**
 * The keys, in this order in every script:
 *
 *   KEYS[1] records  hash  agent id -> beat, line feed, the record's JSON
 *   KEYS[2] times    zset  agent id by the time of its last beat, Redis milliseconds
 *   KEYS[3] beats    number of all beats
 *   KEYS[4] lost     zset  agent id by the time at which it was declared lost
 */
const PRELUDE = `
local records, times, beats, lost = unpack(KEYS)
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function bootOf(stored)
  return cjson.decode(string.sub(stored, string.find(stored, "\\n", 1, true) + 1)).bootId
end
`;

/**
 * Writes a record with a new beat. The beat contains the time, because Redis counts beats from 1 again after it was
 * emptied.
 *
 *   ARGV[1] agent id   ARGV[2] record JSON   ARGV[3] boot id: the record of another boot stays; empty: it is replaced
 *
 * Returns 1, or 0 when the record of another boot has stayed.
 */
const BEAT = redisScript(`${PRELUDE}
local stored = ARGV[3] ~= "" and redis.call("HGET", records, ARGV[1])
if stored and bootOf(stored) ~= ARGV[3] then return 0 end
local beat = string.format("%s.%s-%d", time[1], time[2], redis.call("INCR", beats))
redis.call("HSET", records, ARGV[1], beat .. "\\n" .. ARGV[2])
redis.call("ZADD", times, now, ARGV[1])
redis.call("ZREM", lost, ARGV[1])
return 1
`);

/**
 * Removes a record, unless another boot of the agent has written it.
 *
 *   ARGV[1] agent id   ARGV[2] boot id
 */
const LEAVE = redisScript(`${PRELUDE}
local stored = redis.call("HGET", records, ARGV[1])
if not stored then return end
if bootOf(stored) ~= ARGV[2] then return end
redis.call("HDEL", records, ARGV[1])
redis.call("ZREM", times, ARGV[1])
`);

/**
 * Lists the records that are young enough, and removes the old ones.
 *
 *   ARGV[1] greatest age of a listed record, milliseconds   ARGV[2] age from which a record is removed, milliseconds
 *
 * Returns the stored values.
 */
const ONLINE = redisScript(`${PRELUDE}
for _, agentId in ipairs(redis.call("ZRANGEBYSCORE", times, "-inf", now - ARGV[2], "LIMIT", 0, 1000)) do
  redis.call("HDEL", records, agentId)
  redis.call("ZREM", times, agentId)
end
local found = {}
for _, agentId in ipairs(redis.call("ZRANGEBYSCORE", times, "(" .. (now - ARGV[1]), "+inf")) do
  found[#found + 1] = redis.call("HGET", records, agentId)
end
return found
`);

/**
 * Notes that an agent is lost, unless another boot of it has written the newest record.
 *
 *   ARGV[1] agent id   ARGV[2] boot id
 */
const DECLARE_LOST = redisScript(`${PRELUDE}
local stored = redis.call("HGET", records, ARGV[1])
if stored and bootOf(stored) ~= ARGV[2] then return end
redis.call("ZADD", lost, now, ARGV[1])
`);

/**
 * Lists the agents that were declared lost, and removes old notes.
 *
 *   ARGV[1] age from which a note is removed, milliseconds
 *
 * Returns agent ids.
 */
const LOST = redisScript(`${PRELUDE}
redis.call("ZREMRANGEBYSCORE", lost, "-inf", now - ARGV[1])
return redis.call("ZRANGE", lost, 0, -1)
`);

export class RedisPresence implements Presence {
  readonly #redis: BoardRedis;

  constructor(redis: BoardRedis) {
    this.#redis = redis;
  }

  async beat(record: PresenceRecord): Promise<void> {
    await runScript(this.#redis, BEAT, KEYS, [record.agentId, JSON.stringify(record), ""]);
  }

  async renew(record: PresenceRecord): Promise<boolean> {
    const { agentId, bootId } = record;
    return (await runScript(this.#redis, BEAT, KEYS, [agentId, JSON.stringify(record), bootId])) === 1;
  }

  async leave(agentId: AgentId, bootId: string): Promise<void> {
    await runScript(this.#redis, LEAVE, KEYS, [agentId, bootId]);
  }

  async read(agentIds: readonly AgentId[]): ReturnType<Presence["read"]> {
    if (agentIds.length === 0) return new Map();
    const stored = await this.#redis.hmget(KEYS[0]!, ...agentIds);
    return new Map(
      agentIds.flatMap((agentId, at) => {
        const value = stored[at];
        if (!value) return [];
        const { beat, record } = parseStored(value);
        return [[agentId, { bootId: record.bootId, beat }] as const];
      }),
    );
  }

  async online(maxAgeMs: number): Promise<readonly PresenceRecord[]> {
    const stored = (await runScript(this.#redis, ONLINE, KEYS, [maxAgeMs, FORGOTTEN_AFTER_MS])) as string[];
    return stored.map((value) => parseStored(value).record);
  }

  async declareLost(agentId: AgentId, bootId: string): Promise<void> {
    await runScript(this.#redis, DECLARE_LOST, KEYS, [agentId, bootId]);
  }

  async lost(): Promise<readonly AgentId[]> {
    return (await runScript(this.#redis, LOST, KEYS, [LOST_FOR_MS])) as AgentId[];
  }
}

function parseStored(stored: string): { readonly beat: string; readonly record: PresenceRecord } {
  const end = stored.indexOf("\n");
  return { beat: stored.slice(0, end), record: JSON.parse(stored.slice(end + 1)) as PresenceRecord };
}
