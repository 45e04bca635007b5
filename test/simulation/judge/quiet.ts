/**
 * What must hold while nothing goes wrong: the board has an offer for each queued job and for no other, the agents of
 * bound jobs are watched, and places in quotas are kept for bound jobs only. A difference counts when it stays.
 */
import { isBound, type JobState } from "../../../actors/job/state.ts";
import type { JobRunId } from "../../../src/domain/ids.ts";
import { PLACE_MS } from "../../../src/board/board.ts";
import type { Violation } from "../../chaos/check/evidence.ts";
import type { World } from "../engine/world.ts";
import type { Effects } from "./effects.ts";

/** A difference may last this long, milliseconds. */
const PASSING_MS = 2_500;
/**
 * Idle agents have taken several late offers after this long. An owner whose call took long may have kept a place for a
 * job that had ended: until that place is free, a quota may keep the agents from the offers.
 */
const TAKEN_WITHIN_MS = PLACE_MS + 12_000;
/** The kernel looks this often for queued jobs whose offers were lost, at the latest: see queue-watcher.ts. */
const RENEWED_WITHIN_MS = 45_000;
/** The kernel keeps places three times as often as they expire. */
const KEPT_WITHIN_MS = PLACE_MS / 3 + 3_000;
const LOOK_MS = 500;
const NO_OFFER = "is queued and has no offer";

export class QuietWatch {
  readonly violations: Violation[] = [];
  readonly #world: World;
  readonly #effects: Effects;
  readonly #since: number;
  readonly #canBeLate: boolean;
  /** Since when each difference is seen. */
  #seen = new Map<string, number>();
  #isOver = false;

  /**
   * Begins to watch, at a time from which nothing goes wrong any more. `canBeLate`: an owner that was frozen, or whose
   * calls took long, may have made an offer after its job was granted. The next agent with a free slot removes it; so
   * such an offer counts only while no agent is busy. And an offer that was lost then is made again by the queue watcher.
   */
  constructor(world: World, effects: Effects, canBeLate: boolean) {
    this.#world = world;
    this.#canBeLate = canBeLate;
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
      const passingMs = this.#canBeLate ? lateMs : PASSING_MS;
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
    for (const jobId of this.#canBeLate && isBusy ? [] : offered) {
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
    } else if (job.endedAt !== null && keptAt > Math.max(job.endedAt, this.#since) + PASSING_MS) {
      yield `a place is kept for ${jobId}, which has ended`;
    }
  }

  #jobs(): ReadonlyMap<JobRunId, JobState> {
    const jobs = new Map<JobRunId, JobState>();
    for (const { actors } of this.#world.store.documents.values()) {
      for (const { kind, id, state } of actors.values())
        if (kind === "job") jobs.set(id as JobRunId, state as JobState);
    }
    return jobs;
  }
}
