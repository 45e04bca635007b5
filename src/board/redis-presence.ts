/** Presence on Redis: the newest sign of life of each agent, timed by Redis' own clock. */
import type { AgentId } from "../domain/ids.ts";
import type { Presence, PresenceRecord } from "./board.ts";
import { type BoardRedis, redisScript, runScript } from "../redis/redis-script.ts";

/** A record that was not renewed for this long is removed. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

/** An agent that was silent for this long has come back with its next beat; less than any age that is asked for. */
const SILENT_MS = 10_000;

/** A copy of the records is read again after this time: a node of an older version does not count its changes. */
const COPY_MS = 30_000;

/** How long an agent is listed as lost. */
const LOST_FOR_MS = 24 * 3_600_000;

const KEYS = ["records", "times", "beats", "lost", "changes"].map((name) => `{presence}:${name}`);

/**
 * The keys, in this order in every script:
 *
 *   KEYS[1] records  hash  agent id -> beat, line feed, the record's JSON
 *   KEYS[2] times    zset  agent id by the time of its last beat, Redis milliseconds
 *   KEYS[3] beats    number of all beats
 *   KEYS[4] lost     zset  agent id by the time at which it was declared lost
 *   KEYS[5] changes  number that grows with each change of a record; never the same after Redis was emptied
 */
const PRELUDE = `
local records, times, beats, lost, changes = unpack(KEYS)
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function recordChanged()
  local last = tonumber(redis.call("GET", changes)) or 0
  redis.call("SET", changes, string.format("%.0f", math.max(last + 1, time[1] * 1000000 + time[2])))
end
local function recordOf(stored)
  return string.sub(stored, string.find(stored, "\\n", 1, true) + 1)
end
local function bootOf(stored)
  return cjson.decode(recordOf(stored)).bootId
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
local before = redis.call("HGET", records, ARGV[1])
if ARGV[3] ~= "" and before and bootOf(before) ~= ARGV[3] then return 0 end
local beatAt = tonumber(redis.call("ZSCORE", times, ARGV[1])) or 0
if not before or recordOf(before) ~= ARGV[2] or now - beatAt >= ${SILENT_MS} then recordChanged() end
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
recordChanged()
`);

/**
 * Lists the records that are young enough, and removes the old ones.
 *
 *   ARGV[1] greatest age of a listed record, milliseconds   ARGV[2] age from which a record is removed, milliseconds
 *   ARGV[3] changes and ARGV[4] number of records of the caller's copy; "" for no copy
 *
 * Returns the changes, the number of records, and the stored values. The values are absent when the caller's copy has
 * them: without a change, records only leave the list.
 */
const ONLINE = redisScript(`${PRELUDE}
for _, agentId in ipairs(redis.call("ZRANGEBYSCORE", times, "-inf", now - ARGV[2], "LIMIT", 0, 1000)) do
  redis.call("HDEL", records, agentId)
  redis.call("ZREM", times, agentId)
end
local change = redis.call("GET", changes) or "0"
local count = redis.call("ZCOUNT", times, "(" .. (now - ARGV[1]), "+inf")
local found = { change, count }
if change == ARGV[3] and tostring(count) == ARGV[4] then return found end
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

  /** The records of the last call of {@link online}. */
  #copy: { readonly maxAgeMs: number; readonly change: string; readonly readAt: number } & {
    readonly records: readonly PresenceRecord[];
  } = { maxAgeMs: 0, change: "", readAt: -Infinity, records: [] };

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
        const { bootId, gatewayId, pulls = false } = record;
        // A beat begins with the seconds and microseconds of its time.
        const [seconds, micros] = beat.split(/[.-]/).map(Number);
        return [
          [agentId, { bootId, gatewayId, pulls, beat, at: seconds! * 1_000 + Math.floor(micros! / 1_000) }] as const,
        ];
      }),
    );
  }

  async online(maxAgeMs: number): Promise<readonly PresenceRecord[]> {
    const copy = this.#copy;
    const isUsable = copy.maxAgeMs === maxAgeMs && performance.now() - copy.readAt < COPY_MS;
    const known = isUsable ? [copy.change, copy.records.length] : ["", ""];
    const reply = await runScript(this.#redis, ONLINE, KEYS, [maxAgeMs, FORGOTTEN_AFTER_MS, ...known]);
    const [change, count, ...stored] = reply as [change: string, count: number, ...stored: string[]];
    if (isUsable && change === copy.change && count === copy.records.length) return copy.records;
    const records = stored.map((value) => parseStored(value).record);
    this.#copy = { maxAgeMs, change, readAt: performance.now(), records };
    return records;
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
