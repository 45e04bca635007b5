/**
 * The board on Redis. Lua scripts change it atomically. The lanes that an agent matches are found here, in a copy of
 * the lanes; the script of every `take` says in the same round trip whether the copy is out of date.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../domain/clock.ts";
import type { Offer } from "../domain/effects.ts";
import type { JobRunId, ProjectId } from "../domain/ids.ts";
import { type Labels, selectorMatches } from "../domain/labels.ts";
import {
  agentQuotas,
  labelQuotas,
  NO_QUOTAS,
  projectQuota,
  type Quota,
  type Quotas,
  type QuotaUse,
} from "../domain/quotas.ts";
import { type Board, type Lane, PLACE_MS, type Places, type TakenOffer } from "./board.ts";
import {
  COUNT_PLACES,
  LANE_ID_LENGTH,
  OCCUPY,
  OFFER,
  TAKE,
  TAKE_WITHIN_QUOTAS,
  VACATE,
  WITHDRAW,
} from "./board-scripts.ts";
import { type BoardRedis, type RedisScript, runScript } from "../redis/redis-script.ts";

/** The witness key that owners watch. It has the hash tag of the board, so the board is lost when this key is lost. */
export const BOARD_WITNESS = "{board}:generation";

const KEYS = ["offers", "lanes", "version", "taken", "idle", "served", "lane:", "quota:", "withdrawn"].map(
  (name) => `{board}:${name}`,
);
/** The hash of offers, and the prefix of the sets of places. */
export const [OFFERS_KEY, PLACES_PREFIX] = [KEYS[0]!, KEYS[7]!];
const CHANNEL = "board";
const DEFAULT_EMPTY_LANE_MS = 60_000;
/** How long a copy of the lanes without a match counts as up to date, without a call to Redis. */
const TRUST_MS = 500;
/** Values (a quota's name and a job id for each place) of one call; an even number. */
const PLACES_AT_ONCE = 1_000;
/**
 * How often one take reads the lanes. They may change faster than they are read; the next take searches the newest
 * ones.
 */
const READS_PER_TAKE = 3;

/** Announces offers to all gateways. */
export interface OfferBroadcast {
  /** The Redis channel and message that a script publishes, so that subscribers get the payload. */
  messageOf(channel: string, payload: unknown): readonly [channel: string, message: string];
  subscribe(channel: string, listener: (payload: unknown) => void): Promise<() => Promise<void>>;
}

export interface RedisBoardOptions {
  readonly redis: BoardRedis;
  readonly feed: OfferBroadcast;
  readonly clock: Pick<Clock, "monotonic">;
  /** The same on all nodes; default none. */
  readonly quotas?: Quotas;
  /** How long an empty lane is kept, milliseconds; default 60,000. */
  readonly emptyLaneMs?: number;
}

interface KnownLane extends Lane {
  readonly laneId: string;
  /** What the last search of this lane has found, if it has found nothing. */
  empty: Quiet;
}

/** Since when, as far as is known, there is nothing to take. */
interface Quiet {
  /** The number of announcements before the search began. */
  readonly announcements: number;
  /** Monotonic milliseconds. */
  readonly at: number;
}

const NOT_QUIET: Quiet = { announcements: -1, at: -Infinity };

interface LaneCopy {
  readonly version: string;
  /** Larger priorities first. */
  readonly lanes: readonly KnownLane[];
  /** Lanes that match, by the labels object, which lives as long as the agent's session. */
  readonly matches: WeakMap<Labels, readonly KnownLane[]>;
  /** When Redis last confirmed this copy. */
  confirmed: Quiet;
}

type TakeReply = ["stale", version: string, lanes: string[]] | ["taken", ...offers: string[]];

export class RedisBoard implements Board {
  readonly #redis: BoardRedis;
  readonly #feed: OfferBroadcast;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #quotas: Quotas;
  readonly #emptyLaneMs: number;
  #copy: LaneCopy = copyOfLanes("", [], NOT_QUIET);
  #listeners = 0;
  /** Announcements of offers so far. */
  #announcements = 0;
  /** A search of lanes that were empty when they were last searched; null for none. */
  #searching: Promise<void> | null = null;

  constructor({ redis, feed, clock, quotas = NO_QUOTAS, emptyLaneMs = DEFAULT_EMPTY_LANE_MS }: RedisBoardOptions) {
    this.#redis = redis;
    this.#feed = feed;
    this.#clock = clock;
    this.#quotas = quotas;
    this.#emptyLaneMs = emptyLaneMs;
  }

  async offer(offer: Offer): Promise<void> {
    const { projectId, priority, selector } = offer;
    const lane: Lane = { projectId, priority, selector };
    const description = JSON.stringify(lane);
    const values = [offer.jobId, offer.queuedAt, laneIdOf(description), description, JSON.stringify(offer)];
    this.#announcements++;
    await this.#run(OFFER, [...values, ...this.#feed.messageOf(CHANNEL, lane)]);
  }

  async withdraw(jobId: JobRunId, queuedAt?: number): Promise<void> {
    await this.#run(WITHDRAW, [jobId, this.#emptyLaneMs, queuedAt ?? ""]);
  }

  async take(labels: Labels, holdMs: number, count: number): Promise<readonly TakenOffer[]> {
    // Nothing was announced since there was nothing to take: of many agents that ask at the same time, one asks Redis.
    while (this.#sawNothing(labels)) {
      if (this.#sawNothing(labels, TRUST_MS)) return [];
      if (this.#searching === null) break;
      await this.#searching;
    }
    const taking = this.#search(labels, holdMs, count);
    if (this.#sawNothing(labels)) {
      const ended = (): void => void (this.#searching = null);
      this.#searching = taking.then(ended, ended);
    }
    return taking;
  }

  async #search(labels: Labels, holdMs: number, count: number): Promise<readonly TakenOffer[]> {
    const announcements = this.#announcements;
    const ofAgent = agentQuotas(this.#quotas, labels);
    for (let read = 0; ; read++) {
      const version = read < READS_PER_TAKE ? this.#copy.version : "*";
      const matching = this.#matching(labels);
      const quotas = quotasText(ofAgent, this.#quotasOf(matching));
      const candidates = matching.flatMap((lane) => [lane.laneId, lane.priority, lane.projectId]);
      const values = [version, holdMs, this.#emptyLaneMs, count, quotas, ...candidates];
      const reply = (await this.#run(quotas === "" ? TAKE : TAKE_WITHIN_QUOTAS, values)) as TakeReply;
      if (reply[0] === "taken") {
        const [, ...offers] = reply;
        const quiet = { announcements, at: this.#clock.monotonic() };
        // With quotas, lanes may hold offers that this agent does not get.
        if (offers.length < count && quotas === "") for (const lane of matching) lane.empty = quiet;
        if (version !== "*") this.#copy.confirmed = quiet;
        return offers.map((text) => {
          const offer = JSON.parse(text) as Offer;
          const ofProject = projectQuota(this.#quotas, offer.projectId);
          return { ...offer, quotas: [...ofAgent, ...(ofProject ? [ofProject] : [])].map(({ name }) => name) };
        });
      }
      this.#copy = copyOfLanes(reply[1], reply[2], { announcements, at: this.#clock.monotonic() });
    }
  }

  async occupy(places: readonly Places[]): Promise<void> {
    const pairs = places.flatMap(({ jobId, quotas }) => quotas.flatMap((name) => [name, jobId]));
    for (let at = 0; at < pairs.length; at += PLACES_AT_ONCE) {
      await this.#run(OCCUPY, [PLACE_MS, ...pairs.slice(at, at + PLACES_AT_ONCE)]);
    }
  }

  async vacate({ jobId, quotas }: Places): Promise<void> {
    await this.#run(VACATE, [jobId, ...quotas]);
  }

  async quotaUse(projectIds: readonly ProjectId[]): Promise<readonly QuotaUse[]> {
    const ofProjects = [...new Set(projectIds)].flatMap((id) => projectQuota(this.#quotas, id) ?? []);
    const quotas = [...ofProjects, ...labelQuotas(this.#quotas)];
    if (quotas.length === 0) return [];
    const names = quotas.map(({ name }) => name);
    const counts = (await this.#run(COUNT_PLACES, names)) as number[];
    return quotas.map((quota, at) => ({ ...quota, taken: counts[at]! }));
  }

  async onOffered(listener: (lane: Lane) => void): Promise<() => Promise<void>> {
    const unsubscribe = await this.#feed.subscribe(CHANNEL, (payload) => {
      this.#announcements++;
      listener(payload as Lane);
    });
    this.#listeners++;
    let stopped = false;
    return async () => {
      if (stopped) return;
      stopped = true;
      this.#listeners--;
      await unsubscribe();
    };
  }

  async find(jobIds: readonly JobRunId[]): Promise<readonly Offer[]> {
    if (jobIds.length === 0) return [];
    const found = await this.#redis.hmget(KEYS[0]!, ...jobIds);
    return found.flatMap((stored) => (stored === null ? [] : [JSON.parse(stored.slice(LANE_ID_LENGTH)) as Offer]));
  }

  size(): Promise<number> {
    return this.#redis.hlen(KEYS[0]!);
  }

  /**
   * True when no lane matched, or each one that did was empty, and no offer was announced since; with `withinMs` also not
   * longer ago. A thousand idle agents ask every second, and share what one of them has seen.
   */
  #sawNothing(labels: Labels, withinMs = Infinity): boolean {
    if (this.#listeners === 0) return false;
    const since = this.#clock.monotonic() - withinMs;
    const isQuiet = ({ announcements, at }: Quiet): boolean => announcements === this.#announcements && at > since;
    return isQuiet(this.#copy.confirmed) && this.#matching(labels).every(({ empty }) => isQuiet(empty));
  }

  #matching(labels: Labels): readonly KnownLane[] {
    const { lanes, matches } = this.#copy;
    const known = matches.get(labels) ?? lanes.filter((lane) => selectorMatches(lane.selector, labels));
    matches.set(labels, known);
    return known;
  }

  #quotasOf(lanes: readonly KnownLane[]): ReadonlyMap<ProjectId, Quota> {
    const found = new Map<ProjectId, Quota>();
    if (this.#quotas.everyProject === null && this.#quotas.projects.size === 0) return found;
    for (const { projectId } of lanes) {
      const quota = found.has(projectId) ? undefined : projectQuota(this.#quotas, projectId);
      if (quota !== undefined) found.set(projectId, quota);
    }
    return found;
  }

  #run(script: RedisScript, values: readonly (string | number)[]): Promise<unknown> {
    return runScript(this.#redis, script, KEYS, values);
  }
}

function quotasText(agent: readonly Quota[], projects: ReadonlyMap<ProjectId, Quota>): string {
  if (agent.length + projects.size === 0) return "";
  const bare = ({ name, limit }: Quota) => ({ name, limit });
  const ofProjects = Array.from(projects, ([projectId, quota]) => [projectId, bare(quota)]);
  return JSON.stringify({ agent: agent.map(bare), projects: Object.fromEntries(ofProjects) });
}

function laneIdOf(description: string): string {
  return createHash("sha256").update(description).digest("base64url").slice(0, LANE_ID_LENGTH);
}

function copyOfLanes(version: string, pairs: readonly string[], confirmed: Quiet): LaneCopy {
  const lanes: KnownLane[] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    lanes.push({ ...(JSON.parse(pairs[at + 1]!) as Lane), laneId: pairs[at]!, empty: NOT_QUIET });
  }
  return { version, lanes: lanes.sort((a, b) => b.priority - a.priority), matches: new WeakMap(), confirmed };
}
