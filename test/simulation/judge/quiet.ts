/**
 * What must hold while nothing goes wrong: the board has an offer for each queued job and for no other, the agents of
 * bound jobs are watched, and places in quotas are kept for bound jobs only. A difference counts when it stays.
 */
import { isBound, type JobState } from "../../../actors/job/state.ts";
import type { JobRunId } from "../../../src/domain/ids.ts";
import { FIRST_BOUND_CHECK_MS } from "../../../actors/kernel/bound-check.ts";
import { PLACE_MS } from "../../../src/board/board.ts";
import type { Violation } from "../../chaos/check/evidence.ts";
import type { World } from "../engine/world.ts";
import type { Effects } from "./effects.ts";

/** A difference may last this long, milliseconds: a save and its effects, with a sweep and a fault of one call between. */
const PASSING_MS = 2_500;
/**
 * Only for seeds in which Redis lost its data. The board then forgot which offers were withdrawn, so a call that took long
 * may have made one of them again. The next agent with a free slot asks for it, and it goes: several such offers are gone
 * after this long, within a quota too.
 */
const TAKEN_WITHIN_MS = 12_000;
/**
 * Only for seeds in which Redis lost its data: an offer that was written just before is lost after its job was looked at.
 * The kernel looks this often for queued jobs without an offer, at the latest: see queue-watcher.ts.
 */
const RENEWED_WITHIN_MS = 45_000;
/**
 * An earlier owner may end a job after its successor has read which jobs are bound. The successor compares this long after
 * it has opened the shard (a check, a round of sweeps, and what is on its way), and shards may be opened until just before
 * the watch begins.
 */
const FREED_WITHIN_MS = FIRST_BOUND_CHECK_MS + 4_000;
/** The kernel keeps places three times as often as they expire. */
const KEPT_WITHIN_MS = PLACE_MS / 3 + 3_000;
const LOOK_MS = 500;
const NO_OFFER = "is queued and has no offer";

export class QuietWatch {
  readonly violations: Violation[] = [];
  readonly #world: World;
  readonly #effects: Effects;
  readonly #since: number;
  readonly #wasRedisLost: boolean;
  /** Since when each difference is seen. */
  #seen = new Map<string, number>();
  #isOver = false;

  /**
   * Begins to watch, at a time from which nothing goes wrong any more. `wasRedisLost`: Redis has lost its data before. An
   * offer that should not be there counts then only while no agent is busy, because a free one removes it.
   */
  constructor(world: World, effects: Effects, wasRedisLost: boolean) {
    this.#world = world;
    this.#wasRedisLost = wasRedisLost;
    this.#effects = effects;
    this.#since = world.now;
    this.#look();
  }

  stop(): void {
    this.#isOver = true;
  }

  #look(): void {
    if (this.#isOver) return;
    const { now } = this.#world;
    const seen = new Map<string, number>();
    for (const difference of this.#differences()) {
      const since = this.#seen.get(difference) ?? now;
      seen.set(difference, since);
      const lateMs = difference.endsWith(NO_OFFER) ? RENEWED_WITHIN_MS : TAKEN_WITHIN_MS;
      const passingMs = this.#wasRedisLost ? lateMs : PASSING_MS;
      if (since !== -Infinity && now - since >= passingMs) {
        this.violations.push({ kind: "stuck", text: `${difference} for ${passingMs} ms` });
        seen.set(difference, -Infinity);
      }
    }
    this.#seen = seen;
    this.#world.scheduler.after(LOOK_MS, () => this.#look());
  }

  *#differences(): Generator<string> {
    const jobs = this.#jobs();
    const { offers } = this.#world.redis;
    const isBusy = [...jobs.values()].some(isBound);
    const offered = new Set(offers.all().map(({ jobId }) => jobId));
    for (const jobId of this.#wasRedisLost && isBusy ? [] : offered) {
      if (jobs.get(jobId)?.state !== "queued") yield `an offer of ${jobId} stands on the board, which is not queued`;
    }
    for (const [jobId, job] of jobs) {
      if (job.state === "queued" && !job.paused && !offered.has(jobId)) yield `${jobId} ${NO_OFFER}`;
      yield* this.#watchedDifferences(jobId, job);
    }
  }

  *#watchedDifferences(jobId: JobRunId, job: JobState): Generator<string> {
    const { now } = this.#world;
    const keptAt = this.#effects.keptAt.get(jobId) ?? -Infinity;
    if (isBound(job)) {
      const boundSince = Math.max(job.startedAt ?? now, this.#since);
      if (now - Math.max(boundSince, keptAt) > KEPT_WITHIN_MS) yield `the agent of ${jobId} is not watched`;
    } else if (job.endedAt !== null && keptAt > Math.max(job.endedAt, this.#since) + FREED_WITHIN_MS) {
      yield `a place is kept for ${jobId}, which has ended`;
    }
  }

  #jobs(): ReadonlyMap<JobRunId, JobState> {
    const jobs = new Map<JobRunId, JobState>();
    const { documents, ended } = this.#world.store;
    const actors = [...documents.values()].flatMap((document) => [...document.actors.values()]);
    for (const { kind, id, state } of [...[...ended.values()].map(({ actor }) => actor), ...actors])
      if (kind === "job") jobs.set(id as JobRunId, state as JobState);
    return jobs;
  }
}
