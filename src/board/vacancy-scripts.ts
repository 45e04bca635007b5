/**
 * The Lua scripts of vacancies: free slots that gateways show on the board. Agents with equal labels form a class, so
 * that a search for a slot reads the labels of each class once, and not those of each agent.
 *
 * Keys that these scripts use beside those of board-scripts.ts, which has the prelude of all of them:
 *
 *   KEYS[10] vacancies     hash  agent id -> JSON {boot, gateway, stream, class, ids, held}; `ids`: request ids of the
 *                                vacancies; `held`: [request id, end of the reservation] of those that were reserved
 *   KEYS[11] classes       hash  class id -> JSON of the labels
 *   KEYS[12] classVersion  number that grows whenever a class is made or removed; never the same after Redis was emptied
 *   KEYS[13] classUse      zset  class id by the time at which the class is removed if it has no vacancy then
 *   KEYS[14] gateways      zset  attendance id of a gateway by the time until which it attends its vacancies
 *   KEYS[15] lapsing       zset  reservation (request id, space, agent id) by its end
 *   KEYS[16] ofClass       prefix of the classes' own keys: zset of agent ids by the turn in which they are served
 *
 * A request id that was reserved is never used again, also when its reservation has ended: a grant that was saved late may
 * carry the id.
 */

/** How long a class without a vacancy is kept: its agents may all be busy. */
const KEPT_CLASS_MS = 10 * 60_000;
/** How long the end of a reservation is remembered. */
const KEPT_HELD_MS = 60_000;
/** Agents of one class that a search looks at: the vacancies of a gateway that has gone are removed on the way. */
const AGENTS_PER_CLASS = 16;
/** Classes that one answer names. */
const CLASSES_PER_ANSWER = 16;

/** Reads and writes the vacancies of one agent. */
export const VACANCIES = `
local function vacancyOf(agent)
  local stored = redis.call("HGET", vacancies, agent)
  if not stored then return { ids = {}, held = {} } end
  local found = cjson.decode(stored)
  local held = {}
  for _, one in ipairs(found.held) do
    if one[2] + ${KEPT_HELD_MS} > now then held[#held + 1] = one end
  end
  found.held = held
  return found
end

local function keepVacancy(agent, vacancy)
  if #vacancy.ids == 0 then redis.call("ZREM", ofClass .. vacancy.class, agent) end
  if #vacancy.ids == 0 and #vacancy.held == 0 then
    redis.call("HDEL", vacancies, agent)
  else
    redis.call("HSET", vacancies, agent, cjson.encode(vacancy))
  end
end

local function nextTurn(class)
  local last = redis.call("ZRANGE", ofClass .. class, -1, -1, "WITHSCORES")
  return (tonumber(last[2]) or 0) + 1
end
`;

/**
 * For a take in the name of an agent that shows its vacancies. `usableIds` answers the request ids of slots that
 * are free: a slot that is reserved is not free, though its gateway may not know that yet. `showVacancies` shows those that
 * the take has not used.
 */
export const SHOW = `
local function usableIds(shown)
  local vacancy = vacancyOf(shown.agent)
  local seen, wasReserved, kept, active = {}, {}, {}, 0
  for _, id in ipairs(shown.seen) do
    seen[id] = true
    redis.call("ZREM", lapsing, id .. " " .. shown.agent)
  end
  for _, one in ipairs(vacancy.held) do
    if not seen[one[1]] then
      kept[#kept + 1] = one
      wasReserved[one[1]] = true
      if one[2] > now then active = active + 1 end
    end
  end
  vacancy.held = kept
  local usable = {}
  for _, id in ipairs(shown.ids) do
    if not wasReserved[id] and #usable + active < #shown.ids then usable[#usable + 1] = id end
  end
  return usable, vacancy
end

local function showVacancies(shown, usable, used, vacancy)
  local ids = {}
  for at = used + 1, #usable do ids[#ids + 1] = usable[at] end
  if vacancy.class and vacancy.class ~= shown.class then redis.call("ZREM", ofClass .. vacancy.class, shown.agent) end
  if redis.call("HSETNX", classes, shown.class, shown.labels) == 1 then changed(classVersion) end
  redis.call("ZADD", classUse, "GT", now + ${KEPT_CLASS_MS}, shown.class)
  if #ids > 0 then redis.call("ZADD", ofClass .. shown.class, "NX", nextTurn(shown.class), shown.agent) end
  keepVacancy(shown.agent, {
    boot = shown.boot, gateway = shown.gateway, stream = shown.stream, class = shown.class, ids = ids, held = vacancy.held
  })
end
`;

/**
 * Reserves a vacancy for one job, of the class that is named first and has one; in a class, of the agent that was served
 * least recently. No vacancy is reserved for which an offer waits that its agent could take.
 *
 *   ARGV[1] job id   ARGV[2] project id   ARGV[3] how long the vacancy is reserved, milliseconds
 *   ARGV[4] version of the classes that the caller has read
 *   ARGV[5] quotas as JSON: `agent`, empty; `projects`, a list of {name, limit} by the id of the project
 *   ARGV[6] version of the lanes that the caller has read
 *   ARGV[7] classes as JSON: a list of {id, quotas, lanes}; `quotas`: those of the agents as {name, limit}; `lanes`: ids
 *           of the lanes that the agents match, false when the caller has not looked for them
 *
 * Returns
 *   {"stale", version, classes as a flat list} when the classes have changed;
 *   {"waiting", version of the lanes, lanes as a flat list if theirs has changed, else empty, class ids} when offers wait and
 *     the caller must say which lanes the agents of these classes match;
 *   {"reserved", class id, agent id, boot id, request id}; or {"none"}.
 */
export const RESERVE_BODY = `
local current = redis.call("GET", classVersion) or "0"
if current ~= ARGV[4] then return { "stale", current, redis.call("HGETALL", classes) } end
dropExpired()
local isWaiting = redis.call("HLEN", offers) ~= redis.call("ZCARD", taken)
local lanesNow = redis.call("GET", version) or "0"
local job = { jobId = ARGV[1], project = ARGV[2] }

local function vacantAgent(class)
  for _ = 1, ${AGENTS_PER_CLASS} do
    local agent = redis.call("ZRANGE", ofClass .. class, 0, 0)[1]
    if not agent then return nil end
    local vacancy = vacancyOf(agent)
    local attendedUntil = vacancy.gateway and tonumber(redis.call("ZSCORE", gateways, vacancy.gateway)) or 0
    if attendedUntil > now and #vacancy.ids > 0 and vacancy.class == class then return agent, vacancy end
    redis.call("ZREM", ofClass .. class, agent)
    if vacancy.class == class then
      vacancy.ids = {}
      keepVacancy(agent, vacancy)
    end
  end
end

local function isAwaited(class)
  if not isWaiting then return false end
  for _, lane in ipairs(class.lanes) do
    if redis.call("EXISTS", prefix .. lane) == 1 then return true end
  end
  return false
end

local unsure = {}
for _, class in ipairs(cjson.decode(ARGV[7])) do
  quotas.agent = class.quotas
  local agent, vacancy
  if hasRoom(job.project) and agentHasRoom() then agent, vacancy = vacantAgent(class.id) end
  if agent and isWaiting and (not class.lanes or ARGV[6] ~= lanesNow) then
    if #unsure < ${CLASSES_PER_ANSWER} then unsure[#unsure + 1] = class.id end
  elseif agent and not isAwaited(class) then
    local id = table.remove(vacancy.ids, 1)
    vacancy.held[#vacancy.held + 1] = { id, now + holdMs }
    redis.call("ZADD", ofClass .. class.id, nextTurn(class.id), agent)
    keepVacancy(agent, vacancy)
    redis.call("ZADD", lapsing, now + holdMs, id .. " " .. agent)
    countTurn(job.project)
    takePlaces(job)
    return { "reserved", class.id, agent, vacancy.boot, id }
  end
end
if #unsure == 0 then return { "none" } end
return { "waiting", lanesNow, ARGV[6] == lanesNow and {} or redis.call("HGETALL", lanes), unsure }
`;

/**
 * Removes the vacancies of an agent, unless another stream of it shows them.
 *
 *   ARGV[1] agent id   ARGV[2] stream id
 */
export const HIDE_BODY = `
local vacancy = vacancyOf(ARGV[1])
if vacancy.stream ~= ARGV[2] then return end
vacancy.ids = {}
keepVacancy(ARGV[1], vacancy)
`;

/**
 * Attends the vacancies of a gateway, which count only while it attends them.
 *
 *   ARGV[1] attendance id   ARGV[2] how long they count, milliseconds   ARGV[3] 1 for the begin of an attendance, else 0
 *
 * Returns {1 when they count from now on, 0 when they have ceased to count before; the number of offers; then the reservations of its agents that have
 * ended and were not seen}.
 */
export const ATTEND_BODY = `
redis.call("ZREMRANGEBYSCORE", gateways, "-inf", now)
local counts = ARGV[3] == "1" or redis.call("ZSCORE", gateways, ARGV[1])
if counts then redis.call("ZADD", gateways, now + ARGV[2], ARGV[1]) end

local removed = 0
for _, class in ipairs(redis.call("ZRANGEBYSCORE", classUse, "-inf", now, "LIMIT", 0, 100)) do
  if redis.call("EXISTS", ofClass .. class) == 1 then
    redis.call("ZADD", classUse, now + ${KEPT_CLASS_MS}, class)
  else
    redis.call("ZREM", classUse, class)
    removed = removed + redis.call("HDEL", classes, class)
  end
end
if removed > 0 then changed(classVersion) end

local reply = { counts and 1 or 0, redis.call("HLEN", offers) }
for _, reservation in ipairs(redis.call("ZRANGEBYSCORE", lapsing, "-inf", now, "LIMIT", 0, 1000)) do
  local gateway = vacancyOf(string.match(reservation, "[^ ]*$")).gateway
  local isOurs = gateway == ARGV[1]
  if isOurs then reply[#reply + 1] = reservation end
  if isOurs or not gateway or not redis.call("ZSCORE", gateways, gateway) then
    redis.call("ZREM", lapsing, reservation)
  end
end
return reply
`;
