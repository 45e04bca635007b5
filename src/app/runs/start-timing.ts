/**
 * Why a step started when it did: the times on its way to the start, and what it waited for between them. Everything is
 * computed from the stored states of actors. Pure.
 */
import type { z } from "zod";
import type { JobState } from "../../../actors/job/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { timeOf } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { AggregateHead, JobInBrief, RunSummary } from "../../stores/ports/aggregates.ts";
import { elapsed, rfc3339 } from "../times.ts";
import type { StartTimingShape, WaitsShape } from "./run-shapes.ts";

export type StartTiming = z.infer<typeof StartTimingShape>;
export type Waits = z.infer<typeof WaitsShape>;
export type Wait = keyof Waits;

/** Unix milliseconds; null for what has not happened. */
type TimeOrNull = number | null;

type Ended = Pick<JobInBrief, "jobId" | "index" | "endedAt">;

/** Start times of the steps of one run. What many steps share is computed once. */
export class StartTimes {
  readonly #summary: RunSummary;
  readonly #triggeredAt: number;
  /** The texts that all steps share, made when they are needed. */
  #shared: Pick<StartTiming, "triggeredAt" | "plannedAt"> | undefined;
  readonly #plan: Pick<RunPlan, "jobs" | "stages">;
  readonly #now: number;
  readonly #jobs: ReadonlyMap<string, Ended>;
  /** By job index: when its last ended attempt ended, Unix milliseconds; 0 while none has. */
  readonly #jobEnds: number[];
  /** By stage index: when the last ended job of the earlier stages ended, Unix milliseconds. */
  readonly #stageBegins: number[];

  /** `jobs`: every attempt of every job. */
  constructor(
    { rootId, summary }: Pick<AggregateHead, "rootId" | "summary">,
    plan: Pick<RunPlan, "jobs" | "stages">,
    jobs: readonly Ended[],
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
      const ownBegin = begin;
      begin = Math.max(begin, end);
      return ownBegin;
    });
  }

  /** `previous`: the step before it in the same job run; undefined for the first step. A reused step has no waits. */
  of(step: StepState, job: JobState, previous: StepState | undefined): StartTiming {
    this.#shared ??= { triggeredAt: rfc3339(this.#triggeredAt), plannedAt: rfc3339(this.#summary.createdAt) };
    return {
      ...this.#shared,
      offeredAt: rfc3339(offeredAt(job)),
      claimedAt: rfc3339(job.startedAt),
      dispatchedAt: rfc3339(step.queuedAt),
      startedAt: rfc3339(step.startedAt),
      waits: this.waits(step, job, previous),
    };
  }

  /** The waits alone of {@link of}, for callers that need no texts. */
  waits(step: StepState, job: JobState, previous: StepState | undefined): Waits {
    return step.reusedFrom === null ? this.#waits(step, job, previous) : NONE;
  }

  /**
   * A later step waits since the end of the step before it, and a later attempt of a job since the loss of the attempt
   * before it. Only a pause can come between that time and the dispatch or the offer.
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

  /** For a first attempt: when its stage opened, and when the jobs that it needs had ended as well. */
  #readiness({ index, stageOpen, openNeeds }: JobState): readonly [opened: TimeOrNull, ready: TimeOrNull] {
    if (!stageOpen) return [null, null];
    const { stage, needs } = this.#plan.jobs[index]!;
    const opened = this.#stageBegins[stage]!;
    return [opened, openNeeds.length > 0 ? null : Math.max(opened, ...needs.map((need) => this.#jobEnds[need]!))];
  }
}

function offeredAt({ state, paused, queuedAt }: JobState): TimeOrNull {
  return state === "queued" && paused ? null : queuedAt;
}

function measure(from: TimeOrNull, ends: readonly (readonly [Wait, TimeOrNull])[], until: number): Waits {
  const waits: Record<Wait, number | null> = { ...NONE };
  for (const [wait, end] of ends) {
    if (from === null) break;
    waits[wait] = elapsed(from, end ?? until);
    from = end;
  }
  return waits;
}

const NONE: Waits = { plan: null, stage: null, needs: null, paused: null, agent: null, start: null };
