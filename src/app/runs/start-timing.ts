/**
 * Why a step started when it did: the moments on its way, and what each stretch between them was spent on. All of it
 * follows from what the actors remember anyway; nothing is stored for it. Pure.
 */
import type { JobState } from "../../../actors/job/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { timeOf } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { AggregateHead, RunSummary } from "../../stores/ports/aggregates.ts";
import { elapsed, rfc3339 } from "../times.ts";

/**
 * What a start waits for, one after the other: the plan, earlier stages, needed jobs, the
 * end of a pause, an agent that is granted the job, and the agent's word that the step has started.
 */
export type Wait = "plan" | "stage" | "needs" | "paused" | "agent" | "start";

/** Milliseconds; what goes on is counted until now, and what has not begun or was not waited for is null. */
export type Waits = Readonly<Record<Wait, number | null>>;

/** RFC 3339; null for what has not happened. All steps of a job run share its offer and its claim. */
export interface StartTiming {
  readonly triggeredAt: string;
  readonly plannedAt: string;
  /** On the board since then; null while a pause keeps the job off it. */
  readonly offeredAt: string | null;
  /** The grant was saved. */
  readonly claimedAt: string | null;
  readonly dispatchedAt: string | null;
  readonly startedAt: string | null;
  readonly waits: Waits;
}

/** A moment, Unix milliseconds, or null when it has not come. */
type Moment = number | null;

/** Times of one run's starts. What is asked of many steps is found out once. */
export class StartTimes {
  readonly #summary: RunSummary;
  readonly #triggeredAt: number;
  readonly #plan: Pick<RunPlan, "jobs" | "stages">;
  readonly #now: number;
  readonly #jobs: ReadonlyMap<string, JobState>;
  /** By position in the plan: the end of the newest attempt that has one. */
  readonly #jobEnds: number[];
  /** By position in the plan: the end of the stages before it, as far as they have ended. */
  readonly #stageBegins: number[];

  /** `jobs`: every attempt. */
  constructor(
    { rootId, summary }: Pick<AggregateHead, "rootId" | "summary">,
    plan: Pick<RunPlan, "jobs" | "stages">,
    jobs: readonly JobState[],
    now: number,
  ) {
    this.#summary = summary;
    this.#triggeredAt = timeOf(rootId);
    this.#plan = plan;
    this.#now = now;
    this.#jobs = new Map(jobs.map((job) => [job.jobId, job]));
    this.#jobEnds = plan.jobs.map(() => 0);
    for (const { index, endedAt } of jobs) this.#jobEnds[index] = Math.max(this.#jobEnds[index]!, endedAt ?? 0);
    let begin = summary.startedAt ?? 0;
    const stageEnds = plan.stages.map(() => 0);
    for (const { index, stage } of plan.jobs) stageEnds[stage] = Math.max(stageEnds[stage]!, this.#jobEnds[index]!);
    this.#stageBegins = stageEnds.map((end) => {
      const own = begin;
      begin = Math.max(begin, end);
      return own;
    });
  }

  /** `previous`: the step before it in the same job run; none for the first. What is reused has waited for nothing. */
  of(step: StepState, job: JobState, previous: StepState | undefined): StartTiming {
    return {
      triggeredAt: rfc3339(this.#triggeredAt),
      plannedAt: rfc3339(this.#summary.createdAt),
      offeredAt: rfc3339(offeredAt(job)),
      claimedAt: rfc3339(job.startedAt),
      dispatchedAt: rfc3339(step.queuedAt),
      startedAt: rfc3339(step.startedAt),
      waits: step.reusedFrom === null ? this.#waits(step, job, previous) : NONE,
    };
  }

  /**
   * A later step waits from the end of the one before it on, a later attempt of a job from the loss of the one before;
   * nothing but a pause can come between that and the dispatch, or the offer.
   */
  #waits(step: StepState, job: JobState, previous: StepState | undefined): Waits {
    const until = step.endedAt ?? this.#now;
    const start = ["start", step.startedAt] as const;
    if (previous !== undefined && previous.reusedFrom === null)
      return measure(previous.endedAt, [["paused", step.queuedAt], start], until);
    const granted = [["paused", offeredAt(job)], ["agent", job.startedAt], start] as const;
    const lost = job.retryOf === null ? undefined : this.#jobs.get(job.retryOf);
    if (lost !== undefined) return measure(lost.endedAt, granted, until);
    const [opened, ready] = this.#readiness(job);
    const first = [
      ["plan", this.#summary.startedAt],
      ["stage", opened],
      ["needs", ready],
    ] as const;
    return measure(this.#triggeredAt, [...first, ...granted], until);
  }

  /** When the stage of a first attempt had opened, and when the jobs that it needs had ended too. */
  #readiness({ index, stageOpen, openNeeds }: JobState): readonly [opened: Moment, ready: Moment] {
    if (!stageOpen) return [null, null];
    const { stage, needs } = this.#plan.jobs[index]!;
    const opened = this.#stageBegins[stage]!;
    return [opened, openNeeds.length > 0 ? null : Math.max(opened, ...needs.map((need) => this.#jobEnds[need]!))];
  }
}

function offeredAt({ state, paused, queuedAt }: JobState): Moment {
  return state === "queued" && paused ? null : queuedAt;
}

function measure(from: Moment, ends: readonly (readonly [Wait, Moment])[], until: number): Waits {
  const waits: Record<Wait, number | null> = { ...NONE };
  for (const [wait, end] of ends) {
    if (from === null) break;
    waits[wait] = elapsed(from, end ?? until);
    from = end;
  }
  return waits;
}

const NONE: Waits = { plan: null, stage: null, needs: null, paused: null, agent: null, start: null };
