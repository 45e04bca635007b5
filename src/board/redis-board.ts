/**
 * The board on Redis. Lua scripts change it atomically. The lanes that an agent matches are found here, in a copy of
 * the lanes; the script of every `take` says in the same round trip whether the copy is out of date.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../domain/clock.ts";
import type { Offer } from "../domain/effects.ts";
import type { AgentId, JobRunId, ProjectId, TenantId } from "../domain/ids.ts";
import type { LabelledAgent } from "../domain/labels.ts";
import {
  agentQuotas,
  labelQuotas,
  limitsProjects,
  NO_QUOTAS,
  projectQuotas,
  type Quotas,
  type QuotaUse,
} from "../domain/quotas.ts";
import {
  ATTENDED_MS,
  type Attendance,
  type Lane,
  laneMatches,
  PLACE_MS,
  type Places,
  RESERVED_MS,
  type Reservation,
  type SharedBoard,
  type TakenOffer,
  type Vacancies,
} from "./board.ts";
import {
  ATTEND,
  COUNT_PLACES,
  COUNT_TURNS,
  HIDE,
  LANE_ID_LENGTH,
  OCCUPY,
  OFFER,
  RESERVE,
  TAKE,
  TAKE_WITHIN_QUOTAS,
  VACATE,
  WAITS,
  WITHDRAW,
} from "./board-scripts.ts";
import { type BoardRedis, type RedisScript, runScript } from "../redis/redis-script.ts";
import { JoinedCalls } from "./joined-calls.ts";
import { bareQuota, namesOf, quotasOfProjects, quotasText } from "./quota-arguments.ts";
import { classOf, VacancyClasses } from "./vacancy-classes.ts";

/** The witness key that owners watch. It has the hash tag of the board, so the board is lost when this key is lost. */
export const BOARD_WITNESS = "{board}:generation";

const OF_OFFERS = ["offers", "lanes", "version", "taken", "idle", "served", "lane:", "quota:", "withdrawn"];
const OF_VACANCIES = ["vacancies", "classes", "classVersion", "classUse", "gateways", "lapsing", "class:"];
const KEYS = [...OF_OFFERS, ...OF_VACANCIES].map((name) => `{board}:${name}`);
/** The hash of offers, and the prefix of the sets of places. */
export const [OFFERS_KEY, PLACES_PREFIX] = [KEYS[0]!, KEYS[7]!];
/** The hash of lanes, and the prefix of the lanes' own keys. */
export const LANE_KEYS = [KEYS[1]!, KEYS[6]!] as const;
/** Whose turn it is among the projects. */
export const SERVED_KEY = KEYS[5]!;
const CHANNEL = "board";
const DEFAULT_EMPTY_LANE_MS = 60_000;
/** How long a copy of the lanes without a match counts as up to date, without a call to Redis. */
const TRUST_MS = 500;
/** Projects whose tenants are remembered. */
const MAX_TENANTS_KNOWN = 10_000;
/** Values (a quota's name and a job id for each place) of one call; an even number. */
const PLACES_AT_ONCE = 1_000;
/** Offers of one call; Redis does nothing else during a call. */
const OFFERS_AT_ONCE = 100;
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
  /** Those that count now, the same on all nodes but for a few seconds; default none. */
  readonly quotas?: Quotas | (() => Quotas);
  /** The tenant of a project, which never changes; null for an unknown project. Default: no tenant is known. */
  readonly tenantOf?: (projectId: ProjectId) => Promise<TenantId | null>;
  /** How long an empty lane is kept, milliseconds; default 60,000. */
  readonly emptyLaneMs?: number;
}

/** `count`: how many offers of the lane may have become available; absent for one, and from an older node. */
type Announcement = Lane & { readonly count?: number };

interface Offered {
  readonly lane: Lane;
  readonly offer: Offer;
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
  /** Lanes that match, by the agent's object, which lives until its labels change or its session ends. */
  readonly matches: WeakMap<LabelledAgent, readonly KnownLane[]>;
  /** When Redis last confirmed this copy. */
  confirmed: Quiet;
}

/** How often one search for a vacancy asks the board again with newer lanes and classes. */
const READS_PER_SEARCH = 3;

type TakeReply = ["stale", version: string, lanes: string[]] | ["taken", requestIds: string, ...offers: string[]];
type WaitsReply = ["stale", version: string, lanes: string[]] | ["waits", count: number];
type ReserveReply =
  | ["stale", version: string, classes: string[]]
  | ["waiting", version: string, lanes: string[], classIds: string[]]
  | ["reserved", classId: string, agentId: AgentId, bootId: string, requestId: string]
  | ["none"];

export class RedisBoard implements SharedBoard {
  readonly #redis: BoardRedis;
  readonly #feed: OfferBroadcast;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #quotasNow: () => Quotas;
  readonly #emptyLaneMs: number;
  readonly #classes = new VacancyClasses();
  readonly #classOf = new WeakMap<LabelledAgent, ReturnType<typeof classOf>>();
  readonly #tenantOf: (projectId: ProjectId) => Promise<TenantId | null>;
  readonly #tenants = new Map<ProjectId, TenantId>();
  #copy: LaneCopy = copyOfLanes("", [], NOT_QUIET);
  #listeners = 0;
  /** Announcements of offers so far. */
  #announcements = 0;
  readonly #offers = new JoinedCalls<Offered>((offered) => this.#offerAll(offered), OFFERS_AT_ONCE);
  /** Each is the arguments of a withdrawal. */
  readonly #withdrawals = new JoinedCalls<readonly [JobRunId, queuedAt: number | ""]>(
    (withdrawn) => runScript(this.#redis, WITHDRAW, KEYS, [this.#emptyLaneMs, ...withdrawn.flat()]),
    OFFERS_AT_ONCE,
  );
  /** A search of lanes that were empty when they were last searched; null for none. */
  #searching: Promise<void> | null = null;

  constructor({
    redis,
    feed,
    clock,
    quotas = NO_QUOTAS,
    tenantOf = () => Promise.resolve(null),
    emptyLaneMs = DEFAULT_EMPTY_LANE_MS,
  }: RedisBoardOptions) {
    this.#tenantOf = tenantOf;
    this.#redis = redis;
    this.#feed = feed;
    this.#clock = clock;
    this.#quotasNow = typeof quotas === "function" ? quotas : () => quotas;
    this.#emptyLaneMs = emptyLaneMs;
  }

  async offer(offer: Offer): Promise<void> {
    const { projectId, priority, selector } = offer;
    const lane: Lane = { projectId, ...(await this.#tenant(projectId)), priority, selector };
    this.#announcements++;
    this.#withdrawals.flush();
    await this.#offers.add({ lane, offer });
  }

  withdraw(jobId: JobRunId, queuedAt?: number): Promise<void> {
    this.#offers.flush();
    return this.#withdrawals.add([jobId, queuedAt ?? ""]);
  }

  async take(
    agent: LabelledAgent,
    holdMs: number,
    count: number,
    vacancies?: Vacancies,
  ): Promise<readonly TakenOffer[]> {
    // Nothing was announced since there was nothing to take: of many agents that ask at the same time, one asks Redis.
    while (vacancies?.areShown !== false && this.#sawNothing(agent)) {
      if (this.#sawNothing(agent, TRUST_MS)) return [];
      if (this.#searching === null) break;
      await this.#searching;
    }
    const taking = this.#search(agent, holdMs, count, vacancies);
    if (this.#sawNothing(agent)) {
      const ended = (): void => void (this.#searching = null);
      this.#searching = taking.then(ended, ended);
    }
    return taking;
  }

  async #search(
    agent: LabelledAgent,
    holdMs: number,
    count: number,
    vacancies: Vacancies | undefined,
  ): Promise<readonly TakenOffer[]> {
    const announcements = this.#announcements;
    const known = this.#quotasNow();
    const ofAgent = agentQuotas(known, agent.labels);
    const shown = vacancies === undefined ? "" : this.#shownText(agent, vacancies);
    for (let read = 0; ; read++) {
      const version = read < READS_PER_TAKE ? this.#copy.version : "*";
      const matching = this.#matching(agent);
      const ofProjects = quotasOfProjects(known, matching);
      const quotas = quotasText(ofAgent, ofProjects);
      const candidates = matching.flatMap((lane) => [lane.laneId, lane.priority, lane.projectId]);
      const values = [version, holdMs, this.#emptyLaneMs, count, quotas, shown, ...candidates];
      const reply = (await this.#run(quotas === "" ? TAKE : TAKE_WITHIN_QUOTAS, values)) as TakeReply;
      if (reply[0] === "taken") {
        const [, ids, ...offers] = reply;
        const requestIds = JSON.parse(ids) as readonly string[];
        const quiet = { announcements, at: this.#clock.monotonic() };
        // With quotas or reserved slots, lanes may hold offers that this agent does not get.
        const wanted = vacancies === undefined ? count : Math.min(count, requestIds.length);
        if (offers.length < wanted && quotas === "") for (const lane of matching) lane.empty = quiet;
        if (version !== "*") this.#copy.confirmed = quiet;
        return offers.map((text, at) => {
          const offer = JSON.parse(text) as Offer;
          const vacancy = requestIds[at];
          const quotas = namesOf(ofAgent, ofProjects[offer.projectId]);
          return Object.assign(offer, { quotas }, vacancy === undefined ? {} : { vacancy });
        });
      }
      this.#copy = copyOfLanes(reply[1], reply[2], { announcements, at: this.#clock.monotonic() });
    }
  }

  async reserve(offer: Offer): Promise<Reservation | undefined> {
    const { selector, projectId } = offer;
    const lane: Lane = { projectId, ...(await this.#tenant(projectId)), priority: offer.priority, selector };
    const known = this.#quotasNow();
    const ofProjects = quotasOfProjects(known, [lane]);
    const classes = this.#classes;
    let only: readonly string[] | null = null;
    for (let read = 0; read < READS_PER_SEARCH; read++) {
      const found = classes.find(lane, this.#clock.monotonic());
      if (found === undefined) return undefined;
      const named = only;
      const candidates = named === null ? found : found.filter(({ id }) => named.includes(id));
      const described = candidates.map(({ id, agent }) => ({
        id,
        quotas: agentQuotas(known, agent.labels).map(bareQuota),
        lanes: named !== null && this.#matching(agent).map(({ laneId }) => laneId),
      }));
      const quotas = JSON.stringify({ agent: [], projects: ofProjects });
      const [lanes, text] = [this.#copy.version, JSON.stringify(described)];
      const values = [offer.jobId, projectId, RESERVED_MS, classes.version, quotas, lanes, text];
      const reply = (await this.#run(RESERVE, values)) as ReserveReply;
      if (reply[0] === "none") break;
      if (reply[0] === "reserved") {
        const [, classId, agentId, bootId, requestId] = reply;
        const { agent } = candidates.find(({ id }) => id === classId)!;
        const ofAgent = agentQuotas(known, agent.labels);
        return { agentId, bootId, requestId, quotas: namesOf(ofAgent, ofProjects[projectId]) };
      }
      if (reply[0] === "stale") {
        classes.update(reply[1], reply[2]);
        only = null;
      } else {
        if (reply[1] !== this.#copy.version) this.#copy = copyOfLanes(reply[1], reply[2], NOT_QUIET);
        only = reply[3];
      }
    }
    classes.missed(lane, this.#clock.monotonic());
    return undefined;
  }

  async waitsFor(agent: LabelledAgent): Promise<boolean> {
    for (let read = 0; ; read++) {
      const version = read < READS_PER_TAKE ? this.#copy.version : "*";
      const laneIds = this.#matching(agent).map(({ laneId }) => laneId);
      const reply = (await this.#run(WAITS, [version, ...laneIds])) as WaitsReply;
      if (reply[0] === "waits") return reply[1] === 1;
      this.#copy = copyOfLanes(reply[1], reply[2], NOT_QUIET);
    }
  }

  async countTurns(projectIds: readonly ProjectId[]): Promise<void> {
    await this.#run(COUNT_TURNS, projectIds);
  }

  async hide(agentId: AgentId, streamId: string): Promise<void> {
    await this.#run(HIDE, [agentId, streamId]);
  }

  async attend(attendanceId: string, isNew = false): Promise<Attendance> {
    const values = [attendanceId, ATTENDED_MS, isNew ? 1 : 0];
    const reply = (await this.#run(ATTEND, values)) as [number, number, ...string[]];
    const [lasts, offers, ...ended] = reply;
    return { lasts: lasts === 1, offers, ended: ended.map(reservationOf) };
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
    const known = this.#quotasNow();
    const tenants = limitsProjects(known) ? await this.tenantsOf(projectIds) : new Map<ProjectId, TenantId>();
    const ofProjects = [...new Set(projectIds)].flatMap((id) => projectQuotas(known, id, tenants.get(id)));
    // Projects of one tenant share its quota.
    const byName = new Map([...ofProjects, ...labelQuotas(known)].map((quota) => [quota.name, quota]));
    const quotas = [...byName.values()];
    if (quotas.length === 0) return [];
    const names = quotas.map(({ name }) => name);
    const counts = (await this.#run(COUNT_PLACES, names)) as number[];
    return quotas.map((quota, at) => ({ ...quota, taken: counts[at]! }));
  }

  async onOffered(listener: (lane: Lane, count: number) => void): Promise<() => Promise<void>> {
    const unsubscribe = await this.#feed.subscribe(CHANNEL, (payload) => {
      this.#announcements++;
      const { count = 1, ...lane } = payload as Announcement;
      listener(lane, count);
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

  async tenantsOf(projectIds: readonly ProjectId[]): Promise<ReadonlyMap<ProjectId, TenantId>> {
    const found = new Map<ProjectId, TenantId>();
    for (const projectId of new Set(projectIds)) {
      const { tenantId } = await this.#tenant(projectId);
      if (tenantId !== undefined) found.set(projectId, tenantId);
    }
    return found;
  }

  async find(jobIds: readonly JobRunId[]): Promise<readonly Offer[]> {
    if (jobIds.length === 0) return [];
    this.#flush();
    const found = await this.#redis.hmget(KEYS[0]!, ...jobIds);
    return found.flatMap((stored) => (stored === null ? [] : [JSON.parse(stored.slice(LANE_ID_LENGTH)) as Offer]));
  }

  size(): Promise<number> {
    this.#flush();
    return this.#redis.hlen(KEYS[0]!);
  }

  /**
   * True when no lane matched, or each one that did was empty, and no offer was announced since; with `withinMs` also not
   * longer ago. A thousand idle agents ask every second, and share what one of them has seen.
   */
  #sawNothing(agent: LabelledAgent, withinMs = Infinity): boolean {
    if (this.#listeners === 0) return false;
    const since = this.#clock.monotonic() - withinMs;
    const isQuiet = ({ announcements, at }: Quiet): boolean => announcements === this.#announcements && at > since;
    return isQuiet(this.#copy.confirmed) && this.#matching(agent).every(({ empty }) => isQuiet(empty));
  }

  #matching(agent: LabelledAgent): readonly KnownLane[] {
    const { lanes, matches } = this.#copy;
    const known = matches.get(agent) ?? lanes.filter((lane) => laneMatches(lane, agent));
    matches.set(agent, known);
    return known;
  }

  /** The tenant of the project as a part of a lane; read once, because it never changes. */
  async #tenant(projectId: ProjectId): Promise<Pick<Lane, "tenantId">> {
    const tenantId = this.#tenants.get(projectId) ?? (await this.#tenantOf(projectId));
    if (tenantId === null) return {};
    if (this.#tenants.size >= MAX_TENANTS_KNOWN) this.#tenants.clear();
    this.#tenants.set(projectId, tenantId);
    return { tenantId };
  }

  /** The vacancies as the script of a take reads them. The class of an agent is remembered by the agent's object. */
  #shownText(agent: LabelledAgent, vacancies: Vacancies): string {
    const known = this.#classOf.get(agent) ?? classOf(agent);
    this.#classOf.set(agent, known);
    const [id, labels] = known;
    const { agentId, bootId, attendanceId, streamId, requestIds, seen } = vacancies;
    const shown = { agent: agentId, boot: bootId, gateway: attendanceId, stream: streamId, class: id, labels };
    return JSON.stringify({ ...shown, ids: requestIds, seen });
  }

  /** Offers of one lane are announced once, with their number. */
  #offerAll(offered: readonly Offered[]): Promise<unknown> {
    const lanes = new Map<string, { readonly place: number; readonly lane: Lane; count: number }>();
    const offers: (string | number)[] = [];
    for (const { lane, offer } of offered) {
      const description = JSON.stringify(lane);
      const known = lanes.get(description) ?? { place: lanes.size + 1, lane, count: 0 };
      lanes.set(description, known);
      known.count++;
      offers.push(offer.jobId, offer.queuedAt, known.place, JSON.stringify(offer));
    }
    const described = Array.from(lanes, ([description, { lane, count }]) => [
      laneIdOf(description),
      description,
      ...this.#feed.messageOf(CHANNEL, count === 1 ? lane : { ...lane, count }),
    ]);
    const values = [this.#emptyLaneMs, lanes.size, ...described.flat(), ...offers];
    return runScript(this.#redis, OFFER, KEYS, values);
  }

  /** Sends what is collected, so that the next call comes after it. At most one of the two holds something. */
  #flush(): void {
    this.#offers.flush();
    this.#withdrawals.flush();
  }

  #run(script: RedisScript, values: readonly (string | number)[]): Promise<unknown> {
    this.#flush();
    return runScript(this.#redis, script, KEYS, values);
  }
}

/** An agent's id has no space; a request id may have some. */
function reservationOf(text: string): { readonly agentId: AgentId; readonly requestId: string } {
  const end = text.lastIndexOf(" ");
  return { agentId: text.slice(end + 1) as AgentId, requestId: text.slice(0, end) };
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
