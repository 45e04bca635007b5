/**
 * The Lua scripts of the board. Offers wait in lanes, one lane for each (project, priority, selector), so that offers
 * that no agent can run cost nothing to a search for other offers.
 *
 * Keys, all with the hash tag `{board}`, in this order in every script:
 *
 *   KEYS[1] offers   hash  job id -> lane id (22 characters) and the offer's JSON
 *   KEYS[2] lanes    hash  lane id -> the lane's JSON
 *   KEYS[3] version  number that grows whenever a lane is made or removed; never the same after Redis was emptied
 *   KEYS[4] taken    zset  job id by the time at which its offer returns
 *   KEYS[5] idle     zset  lane id by the time at which the lane is removed if it is empty then
 *   KEYS[6] served   zset  project id by a number that grows each time a project is served
 *   KEYS[7] prefix   of the lanes' own keys: zset of job ids by `queuedAt`
 *   KEYS[8] places   prefix of the quotas' own keys: zset of job ids by the time at which their places expire
 *   KEYS[9] gone     zset  withdrawn offers (job id, space, \`queuedAt\`) by the time at which they are forgotten
 *
 * vacancy-scripts.ts says what the other keys hold.
 *
 * Times are Redis' own, in milliseconds. An empty lane is kept for a while: otherwise jobs that come one by one would
 * make and remove it each time, and every gateway would read the lanes again.
 */
import { type RedisScript, redisScript } from "../redis/redis-script.ts";
import { ATTEND_BODY, HIDE_BODY, RESERVE_BODY, SHOW, VACANCIES } from "./vacancy-scripts.ts";

export const LANE_ID_LENGTH = 22;

/** Projects whose last turn is remembered, at most. A project that was forgotten counts as never served. */
const REMEMBERED_PROJECTS = 10_000;

/** The key of a quota expires when none of its places was renewed for this long. */
const KEPT_PLACES_MS = 10 * 60_000;

/**
 * How long a withdrawn offer stays withdrawn when it is put again. A node that was frozen, or whose call took long, may
 * put an offer long after its job has left the queue; no agent may ever ask for that offer, so it would stay.
 */
export const WITHDRAWN_FOR_MS = 60_000;

const PRELUDE = `
local offers, lanes, version, taken, idle, served, prefix, places, gone,
  vacancies, classes, classVersion, classUse, gateways, lapsing, ofClass = unpack(KEYS)
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function laneOf(stored) return string.sub(stored, 1, ${LANE_ID_LENGTH}) end
local function offerOf(stored) return string.sub(stored, ${LANE_ID_LENGTH + 1}) end

local function changed(key)
  local last = tonumber(redis.call("GET", key)) or 0
  redis.call("SET", key, string.format("%.0f", math.max(last + 1, time[1] * 1000000 + time[2])))
end

local function putInLane(jobId, lane, queuedAt)
  redis.call("ZADD", prefix .. lane, queuedAt, jobId)
end
`;

/**
 * Puts taken offers back whose hold has expired, then removes lanes that have been empty for long enough. In this order
 * no lane counts as empty while one of its offers is taken.
 */
const DROP_EXPIRED = `
local function dropExpired()
  for _, jobId in ipairs(redis.call("ZRANGEBYSCORE", taken, "-inf", now)) do
    redis.call("ZREM", taken, jobId)
    local stored = redis.call("HGET", offers, jobId)
    putInLane(jobId, laneOf(stored), cjson.decode(offerOf(stored)).queuedAt)
  end
  local removed = 0
  for _, lane in ipairs(redis.call("ZRANGEBYSCORE", idle, "-inf", now, "LIMIT", 0, 100)) do
    redis.call("ZREM", idle, lane)
    if redis.call("EXISTS", prefix .. lane) == 0 then removed = removed + redis.call("HDEL", lanes, lane) end
  end
  if removed > 0 then changed(version) end
end
`;

/**
 * Puts offers on the board, or makes taken offers available again. An offer that was withdrawn a short time ago is
 * late: it is dropped, as is one that is older than the job's offer on the board. A later offer takes the place of that
 * one, in its own lane.
 *
 *   ARGV[1] how long an empty lane is kept, milliseconds
 *   ARGV[2] number of the lanes that follow, four values each: lane id, lane JSON, and the channel and the message that
 *           announce offers of the lane, when some have become available
 *   then four values for each offer: job id, `queuedAt` in Unix milliseconds, the lane's place in the list from 1, offer
 *   JSON
 */
export const OFFER: RedisScript = redisScript(`${PRELUDE}${DROP_EXPIRED}
local keepMs, laneCount = ARGV[1], tonumber(ARGV[2])
dropExpired()

local function put(jobId, queuedAt, lane, description, offer)
  local goneUntil = redis.call("ZSCORE", gone, jobId .. " " .. queuedAt)
  if goneUntil and tonumber(goneUntil) > now then return false end
  local stored = redis.call("HGET", offers, jobId)
  local before = stored and cjson.decode(offerOf(stored)).queuedAt
  if stored and before > tonumber(queuedAt) then return false end
  if stored and before < tonumber(queuedAt) then
    redis.call("ZREM", prefix .. laneOf(stored), jobId)
    redis.call("ZREM", taken, jobId)
    if redis.call("EXISTS", prefix .. laneOf(stored)) == 0 then redis.call("ZADD", idle, "GT", now + keepMs, laneOf(stored)) end
    stored = false
  end
  if stored then
    if redis.call("ZREM", taken, jobId) == 0 then return false end
    putInLane(jobId, laneOf(stored), queuedAt)
  else
    if redis.call("HSETNX", lanes, lane, description) == 1 then changed(version) end
    redis.call("HSET", offers, jobId, lane .. offer)
    putInLane(jobId, lane, queuedAt)
  end
  return true
end

local available = {}
for i = 3 + 4 * laneCount, #ARGV, 4 do
  local place = tonumber(ARGV[i + 2])
  local at = 4 * place - 1
  if put(ARGV[i], ARGV[i + 1], ARGV[at], ARGV[at + 1], ARGV[i + 3]) then available[place] = true end
end
for place = 1, laneCount do
  if available[place] then redis.call("PUBLISH", ARGV[4 * place + 1], ARGV[4 * place + 2]) end
end
`);

/**
 * Removes offers, taken or not, unless their jobs were offered again since.
 *
 *   ARGV[1] how long an empty lane is kept, milliseconds
 *   ARGV[2...] pairs: job id, `queuedAt` of the offer to remove, or "" for any
 */
export const WITHDRAW: RedisScript = redisScript(`${PRELUDE}
local keepMs = ARGV[1]
redis.call("ZREMRANGEBYSCORE", gone, "-inf", now)

local function withdraw(jobId, queuedAt)
  if queuedAt ~= "" then redis.call("ZADD", gone, now + ${WITHDRAWN_FOR_MS}, jobId .. " " .. queuedAt) end
  local stored = redis.call("HGET", offers, jobId)
  if not stored then return end
  if queuedAt ~= "" and cjson.decode(offerOf(stored)).queuedAt > tonumber(queuedAt) then return end
  local lane = laneOf(stored)
  redis.call("HDEL", offers, jobId)
  redis.call("ZREM", prefix .. lane, jobId)
  redis.call("ZREM", taken, jobId)
  if redis.call("EXISTS", prefix .. lane) == 0 then redis.call("ZADD", idle, "GT", now + keepMs, lane) end
end

for i = 2, #ARGV, 2 do withdraw(ARGV[i], ARGV[i + 1]) end
redis.call("PEXPIRE", gone, ${WITHDRAWN_FOR_MS})
`);

/** Reads how much room the quotas of the agent and of the projects have, and takes places in them. */
const QUOTAS = `
local quotas = cjson.decode(ARGV[5])
local rooms = {}
local function roomIn(quota)
  if not rooms[quota.name] then
    redis.call("ZREMRANGEBYSCORE", places .. quota.name, "-inf", now)
    rooms[quota.name] = quota.limit - redis.call("ZCARD", places .. quota.name)
  end
  return rooms[quota.name]
end

local function hasRoom(project)
  for _, quota in ipairs(quotas.projects[project] or {}) do
    if roomIn(quota) <= 0 then return false end
  end
  return true
end

local function agentHasRoom()
  for _, quota in ipairs(quotas.agent) do
    if roomIn(quota) <= 0 then return false end
  end
  return true
end

local function takePlace(quota, jobId)
  rooms[quota.name] = rooms[quota.name] - 1
  redis.call("ZADD", places .. quota.name, "GT", now + holdMs, jobId)
  redis.call("PEXPIRE", places .. quota.name, ${KEPT_PLACES_MS})
end

local function takePlaces(best)
  for _, quota in ipairs(quotas.agent) do takePlace(quota, best.jobId) end
  for _, quota in ipairs(quotas.projects[best.project] or {}) do takePlace(quota, best.jobId) end
end
`;

/** Remembers that a project was served. */
const TURNS = `
local function countTurn(project)
  local last = redis.call("ZRANGE", served, -1, -1, "WITHSCORES")
  redis.call("ZADD", served, (tonumber(last[2]) or 0) + 1, project)
  redis.call("ZREMRANGEBYRANK", served, 0, -${REMEMBERED_PROJECTS + 1})
end
`;

/**
 * Takes the best offers of the lanes that the caller's agent matches, one after the other: the highest priority first,
 * of those the project that was served least recently, of those the oldest offer.
 *
 *   ARGV[1] version of the lanes that the caller has read, or "*" to accept that newer lanes are not searched
 *   ARGV[2] how long the offers are held, milliseconds
 *   ARGV[3] how long an empty lane is kept, milliseconds
 *   ARGV[4] how many offers to take
 *   ARGV[5] quotas as JSON: `agent`, a list of {name, limit}; `projects`, such lists by project id
 *   ARGV[6] "", or what the agent shows as JSON: {agent, boot, gateway, stream, class, labels, ids, seen}. `ids`: a
 *           request id for each of the offers to take, and maybe more; `seen`: those of reservations that the gateway knows of
 *   ARGV[7...] triples: lane id, priority, project id; priorities descending
 *
 * The vacancies of `ids` that no offer was taken for stand on the board from then on, in place of those before. A taken
 * offer has a place in each of its quotas while it is held. The owner of the job renews the places once the claim is
 * granted.
 *
 * Returns {"stale", version, lanes as a flat list} when the lanes have changed, or {"taken", request ids as JSON, offer
 * JSON...}. The offers use up the first of the request ids, in order.
 */
const takeScript = (quotas: string): RedisScript =>
  redisScript(`${PRELUDE}${DROP_EXPIRED}${VACANCIES}${SHOW}${TURNS}
local known, holdMs, keepMs, count = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
dropExpired()
local current = redis.call("GET", version) or "0"
if known ~= "*" and known ~= current then
  return { "stale", current, redis.call("HGETALL", lanes) }
end

local shown, usable, vacancy
if ARGV[6] ~= "" then
  shown = cjson.decode(ARGV[6])
  usable, vacancy = usableIds(shown)
  count = math.min(count, #usable)
end
${quotas}
local function bestOffer()
  local best
  for i = 7, #ARGV, 3 do
    local lane, priority, project = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    if best and best.priority ~= priority then break end
    local head = redis.call("ZRANGE", prefix .. lane, 0, 0, "WITHSCORES")
    if #head > 0${quotas && " and hasRoom(project)"} then
      local turn = tonumber(redis.call("ZSCORE", served, project) or 0)
      local queuedAt = tonumber(head[2])
      if not best or turn < best.turn or (turn == best.turn and queuedAt < best.queuedAt) then
        best = { jobId = head[1], lane = lane, priority = priority, project = project, turn = turn, queuedAt = queuedAt }
      end
    end
  end
  return best
end

local reply = { "taken", usable and #usable > 0 and cjson.encode(usable) or "[]" }
-- Lanes may be many and empty; without an offer in any of them none is looked at.
local isWaiting = redis.call("HLEN", offers) ~= redis.call("ZCARD", taken)
while isWaiting and #reply < count + 2${quotas && " and agentHasRoom()"} do
  local best = bestOffer()
  if not best then break end
  redis.call("ZREM", prefix .. best.lane, best.jobId)
  redis.call("ZADD", taken, now + holdMs, best.jobId)
  redis.call("ZADD", idle, "GT", now + holdMs + keepMs, best.lane)
  countTurn(best.project)
  reply[#reply + 1] = offerOf(redis.call("HGET", offers, best.jobId))
  ${quotas && "takePlaces(best)"}
end
if shown then showVacancies(shown, usable, #reply - 2, vacancy) end
return reply
`);

export const TAKE: RedisScript = takeScript("");
/** The same with quotas; a script of its own, because most installations have no quotas. */
export const TAKE_WITHIN_QUOTAS: RedisScript = takeScript(QUOTAS);

/**
 * Renews the places of jobs in their quotas.
 *
 *   ARGV[1] how long the places are kept, milliseconds
 *   ARGV[2...] pairs: name of the quota, job id
 */
export const OCCUPY: RedisScript = redisScript(`${PRELUDE}
for i = 2, #ARGV, 2 do
  redis.call("ZADD", places .. ARGV[i], "GT", now + ARGV[1], ARGV[i + 1])
  redis.call("PEXPIRE", places .. ARGV[i], ${KEPT_PLACES_MS})
end
`);

/**
 * Gives up the places of a job.
 *
 *   ARGV[1] job id   ARGV[2...] names of its quotas
 */
export const VACATE: RedisScript = redisScript(`${PRELUDE}
for i = 2, #ARGV do redis.call("ZREM", places .. ARGV[i], ARGV[1]) end
`);

/**
 * Counts the places that are taken in each quota.
 *
 *   ARGV[1...] names of quotas
 *
 * Returns one number for each name.
 */
export const COUNT_PLACES: RedisScript = redisScript(`${PRELUDE}
local counts = {}
for i, name in ipairs(ARGV) do counts[i] = redis.call("ZCOUNT", places .. name, "(" .. now, "+inf") end
return counts
`);

/**
 * Says whether offers wait in lanes.
 *
 *   ARGV[1] version of the lanes that the caller has read, or "*" to accept that newer lanes are not looked at
 *   ARGV[2...] lane ids
 *
 * Returns {"stale", version, lanes as a flat list} when the lanes have changed, else {"waits", 1 or 0}.
 */
export const WAITS: RedisScript = redisScript(`${PRELUDE}${DROP_EXPIRED}
dropExpired()
local current = redis.call("GET", version) or "0"
if ARGV[1] ~= "*" and ARGV[1] ~= current then return { "stale", current, redis.call("HGETALL", lanes) } end
for i = 2, #ARGV do
  if redis.call("EXISTS", prefix .. ARGV[i]) == 1 then return { "waits", 1 } end
end
return { "waits", 0 }
`);

/**
 * Remembers that projects were served.
 *
 *   ARGV[1...] project ids, in the order in which they were served
 */
export const COUNT_TURNS: RedisScript = redisScript(`${PRELUDE}${TURNS}
for _, project in ipairs(ARGV) do countTurn(project) end
`);

/** Reserves a vacancy; see {@link RESERVE_BODY}. */
export const RESERVE: RedisScript = redisScript(
  `${PRELUDE}${DROP_EXPIRED}${VACANCIES}${TURNS}
local holdMs = ARGV[3]
${QUOTAS}${RESERVE_BODY}`,
);

/** Removes the vacancies of an agent; see {@link HIDE_BODY}. */
export const HIDE: RedisScript = redisScript(`${PRELUDE}${VACANCIES}${HIDE_BODY}`);

/** Attends the vacancies of a gateway; see {@link ATTEND_BODY}. */
export const ATTEND: RedisScript = redisScript(`${PRELUDE}${VACANCIES}${ATTEND_BODY}`);
