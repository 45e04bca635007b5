/** The first snapshot of a run: every job and step of the plan, pending or reused. */
import { type RunId, scheduleIdOf } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, RunOrigin, StoredActor } from "../../src/stores/ports/aggregates.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import { jobActor } from "../job/actor.ts";
import { resultOf } from "../job/facts.ts";
import { stepActor } from "../step/actor.ts";
import { indexRun, summariseRun } from "./actor.ts";
import { isFailure } from "./decide.ts";
import { beginFresh, type Beginning } from "./reuse.ts";
import type { RunState } from "./state.ts";

export interface RunCreation {
  readonly runId: RunId;
  readonly shard: number;
  readonly plan: RunPlan;
  readonly origin: RunOrigin;
  /** The jobs and steps of a rerun; absent for a run that repeats none. */
  readonly beginning?: Beginning;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Makes the snapshot of a new run; the run exists once the snapshot is stored. Its start timer is due at once by any
 * clock, so the first turn begins the run, whether the creator takes that turn or the owner of the shard.
 */
export function createRunAggregate({ runId, shard, plan, origin, now, beginning }: RunCreation): Aggregate {
  const { jobs, steps } = beginning ?? beginFresh(runId, plan);
  const ends = jobs.filter(({ cell, endedAt }) => cell === null && endedAt !== null).map((job) => resultOf(job, plan));
  // A rerun belongs to no schedule.
  const scheduled = origin.attempt === 1 ? origin.trigger.scheduled : undefined;
  const run: RunState = {
    runId,
    pipelineId: plan.pipelineId,
    projectId: plan.projectId,
    retryOf: origin.retryOf,
    state: "pending",
    reason: "",
    createdAt: now,
    startedAt: null,
    endedAt: null,
    stage: -1,
    remainingInStage: 0,
    remaining: plan.jobs.length - ends.length,
    failedJobs: ends.filter(isFailure).length,
    toleratedJobs: ends.filter((end) => end === "tolerated").length,
    timedOut: false,
    attempts: [],
    place: null,
    stageApproval: null,
    startTimer: { generation: 0, dueAt: 0 },
    timeoutTimer: null,
    ...(scheduled && { scheduleId: scheduleIdOf(plan.pipelineId, scheduled.name) }),
  };
  const actors: StoredActor[] = [
    { kind: "run", id: runId, state: run, index: indexRun(run) },
    ...jobs.map((job): StoredActor => ({ kind: "job", id: job.jobId, state: job, index: jobActor.index(job) })),
    ...steps.map((step): StoredActor => ({
      kind: "step",
      id: step.stepRunId,
      state: step,
      index: stepActor.index(step),
    })),
  ];
  return {
    head: {
      rootId: runId,
      shard,
      schema: STORED_FORMAT.schema,
      version: 1,
      final: false,
      settled: false,
      eventNumber: 0,
      nextDueAt: 0,
      owed: [],
      summary: summariseRun(run, false, null),
      origin,
    },
    actors,
  };
}
