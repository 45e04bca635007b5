/**
 * Where jobs stand in the queue of the board, and which jobs have the places of a quota, for people who wait. It changes
 * nothing. Its cost is bounded: the lanes are read once a second at most, and only while they are few enough; of many
 * jobs the first ones are told their place.
 */
import type { Clock } from "../domain/clock.ts";
import type { JobRunId } from "../domain/ids.ts";
import type { LabelledAgent } from "../domain/labels.ts";
import { type BoardRedis, redisScript, runScript } from "../redis/redis-script.ts";
import { type Lane, laneMatches } from "./board.ts";
import { LANE_ID_LENGTH } from "./board-scripts.ts";
import { orderOf, type WaitingLane } from "./queue-order.ts";
import { LANE_KEYS, OFFERS_KEY, PLACES_PREFIX, SERVED_KEY } from "./redis-board.ts";

/** A job that waits, as its offer says. */
export interface QueuedJob extends Lane {
  readonly jobId: JobRunId;
  readonly queuedAt: number;
}

/** The lanes with offers that no gateway has taken. */
export interface WaitingLanes {
  readonly lanes: readonly Pick<WaitingLane, "lane" | "offers" | "oldest">[];
  /** False when there are more than one call reads. */
  readonly isWhole: boolean;
}

/** What people who wait are told of the board. */
export interface QueueView {
  /** What waits, as it was a moment ago. An offer that a gateway has taken, for two seconds at most, is not in it. */
  waiting(): Promise<WaitingLanes>;
  /**
   * How many offers go before each job, of those that the agents which match the job could take: by priority, then in
   * turn by project, then by age, when no other offer comes and no quota is reached. A job whose place is not known is
   * absent: no agent matches it, it has no offer, or there are too many lanes or jobs.
   */
  placesOf(jobs: readonly QueuedJob[], agents: readonly LabelledAgent[]): Promise<ReadonlyMap<JobRunId, number>>;
  /** Jobs that have a place in the quota of this name, `limit` at most; those whose place was renewed last come first. */
  holdersOf(quota: string, limit: number): Promise<readonly JobRunId[]>;
}

/** With more lanes no places are told: each read looks at all of them. */
const MAX_LANES = 2_000;
/** Lanes that one look at all of them reads; the others are left out. */
const MAX_WAITING_LANES = 5_000;
/** How long what was read of the lanes is used, milliseconds. */
const SEEN_MS = 1_000;
/** Jobs that are told their place by one call. */
const MAX_JOBS = 100;
/** Comparisons of a lane with an agent in one call: a few milliseconds. */
const MAX_COMPARISONS = 20_000;
/** Lanes that one call looks into. */
const MAX_LOOKS = 2_000;

/**
 *   KEYS[1] lanes    hash  lane id -> the lane's JSON
 *   KEYS[2] prefix   of the lanes' own keys
 *   KEYS[3] served   zset  project id by a number that grows each time a project is served
 *   ARGV[1] the most lanes
 *
 * Returns for each lane with offers: its id, its JSON, the number of its offers, the score of the oldest, and the turn of
 * its project. Returns false when there are too many lanes.
 */
const READ_LANES = redisScript(`
if redis.call("HLEN", KEYS[1]) > tonumber(ARGV[1]) then return false end
local found = {}
local lanes = redis.call("HGETALL", KEYS[1])
for at = 1, #lanes, 2 do
  local head = redis.call("ZRANGE", KEYS[2] .. lanes[at], 0, 0, "WITHSCORES")
  if #head > 0 then
    found[#found + 1] = lanes[at]
    found[#found + 1] = lanes[at + 1]
    found[#found + 1] = redis.call("ZCARD", KEYS[2] .. lanes[at])
    found[#found + 1] = head[2]
    found[#found + 1] = redis.call("ZSCORE", KEYS[3], cjson.decode(lanes[at + 1]).projectId) or "0"
  end
end
return found
`);

/**
 *   KEYS[1] lanes    hash  lane id -> the lane's JSON
 *   KEYS[2] prefix   of the lanes' own keys
 *   ARGV[1] the most lanes
 *
 * Returns 1 when these are all, else 0; and for each lane with offers its JSON, the number of its offers, and the score of
 * the oldest.
 */
const READ_WAITING = redisScript(`
local found = { 1 }
local lanes = redis.call("HGETALL", KEYS[1])
for at = 1, #lanes, 2 do
  local head = redis.call("ZRANGE", KEYS[2] .. lanes[at], 0, 0, "WITHSCORES")
  if #head > 0 then
    if #found > 3 * tonumber(ARGV[1]) then
      found[1] = 0
      break
    end
    found[#found + 1] = lanes[at + 1]
    found[#found + 1] = redis.call("ZCARD", KEYS[2] .. lanes[at])
    found[#found + 1] = head[2]
  end
end
return found
`);

/**
 *   KEYS[1] offers   hash  job id -> lane id and the offer's JSON
 *   KEYS[2] prefix   of the lanes' own keys
 *   ARGV[1] JSON: for each job its id, its \`queuedAt\`, and the lanes to look into
 *
 * Returns for each job how many offers of these lanes are older than its own: -1 for a job without an offer, -2 for one
 * whose offer a gateway has taken.
 */
const COUNT_OLDER = redisScript(`
local counts = {}
for at, job in ipairs(cjson.decode(ARGV[1])) do
  local stored = redis.call("HGET", KEYS[1], job.id)
  local own = stored and string.sub(stored, 1, ${LANE_ID_LENGTH})
  local rank = own and redis.call("ZRANK", KEYS[2] .. own, job.id)
  if not own then counts[at] = -1
  elseif not rank then counts[at] = -2
  else
    for _, lane in ipairs(job.lanes) do
      if lane ~= own then rank = rank + redis.call("ZCOUNT", KEYS[2] .. lane, "-inf", "(" .. job.at) end
    end
    counts[at] = rank
  end
end
return counts
`);

/** KEYS[1]: the places of a quota. ARGV[1]: how many. Returns the jobs whose places have not expired. */
const READ_HOLDERS = redisScript(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call("ZREVRANGEBYSCORE", KEYS[1], "+inf", "(" .. string.format("%.0f", now), "LIMIT", 0, ARGV[1])
`);

/** What the jobs of one lane have in common. */
interface Competition {
  /** See {@link orderOf}. */
  readonly before: ((older: number) => number) | undefined;
  /** The lanes of the same project and priority. */
  readonly own: readonly string[];
}

export class QueuePlaces implements QueueView {
  readonly #redis: BoardRedis;
  readonly #clock: Pick<Clock, "monotonic">;
  #seen: { readonly at: number; readonly lanes: Promise<readonly WaitingLane[] | undefined> } | undefined;
  #waiting: { readonly at: number; readonly lanes: Promise<WaitingLanes> } | undefined;

  constructor(redis: BoardRedis, clock: Pick<Clock, "monotonic">) {
    this.#redis = redis;
    this.#clock = clock;
  }

  waiting(): Promise<WaitingLanes> {
    const now = this.#clock.monotonic();
    if (this.#waiting !== undefined && now - this.#waiting.at < SEEN_MS) return this.#waiting.lanes;
    const lanes = this.#readWaiting();
    this.#waiting = { at: now, lanes };
    lanes.catch(() => (this.#waiting = undefined));
    return lanes;
  }

  async placesOf(jobs: readonly QueuedJob[], agents: readonly LabelledAgent[]): Promise<ReadonlyMap<JobRunId, number>> {
    const lanes = await this.#lanes();
    if (lanes === undefined) return new Map();
    const competitions = new Map<string, Competition | undefined>();
    const kinds = kindsOf(agents);
    let [comparisons, looks] = [0, 0];
    const compete = (lane: Lane): Competition | undefined => {
      comparisons += kinds.length;
      if (comparisons > MAX_COMPARISONS) return undefined;
      const matching = kinds.filter((agent) => laneMatches(lane, agent));
      if (matching.length === 0) return undefined;
      const matched = lanes.filter((other) => {
        if (other.lane.priority < lane.priority || comparisons > MAX_COMPARISONS) return false;
        return matching.some((agent) => {
          comparisons++;
          return laneMatches(other.lane, agent);
        });
      });
      const own = matched.filter((other) => isOfShare(other.lane, lane)).map(({ laneId }) => laneId);
      return comparisons > MAX_COMPARISONS ? undefined : { before: orderOf(matched, lane), own };
    };
    const told: { readonly job: QueuedJob; readonly competition: Competition }[] = [];
    for (const { jobId, queuedAt, ...lane } of jobs.slice(0, MAX_JOBS)) {
      const key = JSON.stringify([lane.projectId, lane.priority, lane.selector]);
      const competition = competitions.has(key) ? competitions.get(key) : compete(lane);
      competitions.set(key, competition);
      if (competition === undefined || (looks += competition.own.length) > MAX_LOOKS) continue;
      told.push({ job: { jobId, queuedAt, ...lane }, competition });
    }
    return this.#count(told);
  }

  async #count(
    told: readonly { readonly job: QueuedJob; readonly competition: Competition }[],
  ): Promise<ReadonlyMap<JobRunId, number>> {
    const places = new Map<JobRunId, number>();
    if (told.length === 0) return places;
    const asked = told.map(({ job, competition }) => ({
      id: job.jobId,
      at: `${job.queuedAt}`,
      lanes: competition.own,
    }));
    const keys = [OFFERS_KEY, LANE_KEYS[1]];
    const counts = (await runScript(this.#redis, COUNT_OLDER, keys, [JSON.stringify(asked)])) as readonly number[];
    for (const [at, { job, competition }] of told.entries()) {
      const older = counts[at]!;
      // A taken offer is on its way to an agent: nothing goes before it.
      const before = older === -2 ? 0 : older < 0 ? undefined : competition.before?.(older);
      if (before !== undefined) places.set(job.jobId, before);
    }
    return places;
  }

  async holdersOf(quota: string, limit: number): Promise<readonly JobRunId[]> {
    return (await runScript(this.#redis, READ_HOLDERS, [`${PLACES_PREFIX}${quota}`], [limit])) as readonly JobRunId[];
  }

  async #readWaiting(): Promise<WaitingLanes> {
    const reply = await runScript(this.#redis, READ_WAITING, [...LANE_KEYS], [MAX_WAITING_LANES]);
    const [isWhole, ...found] = reply as readonly [number, ...(string | number)[]];
    const lanes = Array.from({ length: found.length / 3 }, (_, at) => {
      const [lane, offers, oldest] = found.slice(3 * at, 3 * at + 3) as [string, number, string];
      return { lane: JSON.parse(lane) as Lane, offers, oldest: Number(oldest) };
    });
    return { lanes, isWhole: isWhole === 1 };
  }

  /** The lanes as they were a moment ago; undefined when there are too many. */
  #lanes(): Promise<readonly WaitingLane[] | undefined> {
    const now = this.#clock.monotonic();
    if (this.#seen !== undefined && now - this.#seen.at < SEEN_MS) return this.#seen.lanes;
    const lanes = this.#readLanes();
    this.#seen = { at: now, lanes };
    lanes.catch(() => (this.#seen = undefined));
    return lanes;
  }

  async #readLanes(): Promise<readonly WaitingLane[] | undefined> {
    const keys = [...LANE_KEYS, SERVED_KEY];
    const found = (await runScript(this.#redis, READ_LANES, keys, [MAX_LANES])) as readonly (string | number)[] | null;
    if (found === null) return undefined;
    return Array.from({ length: found.length / 5 }, (_, at): WaitingLane => {
      const [laneId, lane, offers, oldest, turn] = found.slice(5 * at, 5 * at + 5) as [
        string,
        string,
        number,
        string,
        string,
      ];
      return { laneId, lane: JSON.parse(lane) as Lane, offers, oldest: Number(oldest), turn: Number(turn) };
    });
  }
}

function isOfShare(one: Lane, other: Lane): boolean {
  return one.projectId === other.projectId && one.priority === other.priority;
}

/** One agent of each kind that selectors can tell apart. */
function kindsOf(agents: readonly LabelledAgent[]): readonly LabelledAgent[] {
  const kinds = new Map<string, LabelledAgent>();
  for (const { labels, trusted, reach } of agents) {
    const key = JSON.stringify([Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)), trusted, reach]);
    if (!kinds.has(key)) kinds.set(key, { labels, ...(trusted && { trusted }), ...(reach && { reach }) });
  }
  return [...kinds.values()];
}
