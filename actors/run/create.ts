/** The first snapshot of a run: every job and step of the plan, waiting. */
import type { RunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, RunOrigin, StoredActor } from "../../src/stores/aggregates.ts";
import { STORED_FORMAT } from "../../src/stores/stored-format.ts";
import { jobActor } from "../job/actor.ts";
import { newJob } from "../job/state.ts";
import { stepActor } from "../step/actor.ts";
import { newStep } from "../step/state.ts";
import { indexRun, summariseRun } from "./actor.ts";
import type { RunState } from "./state.ts";

export interface RunCreation {
  readonly runId: RunId;
  readonly shard: number;
  readonly plan: RunPlan;
  readonly origin: RunOrigin;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Makes the snapshot whose storing is the trigger. Its start timer is due at once, by any clock, so that the sweep of
 * the shard's owner begins the run even when the doorbell is lost.
 */
export function createRunAggregate({ runId, shard, plan, origin, now }: RunCreation): Aggregate {
  const run: RunState = {
    runId,
    pipelineId: plan.pipelineId,
    projectId: plan.projectId,
    state: "pending",
    reason: "",
    createdAt: now,
    startedAt: null,
    endedAt: null,
    stage: -1,
    remainingInStage: 0,
    remaining: plan.jobs.length,
    failedJobs: 0,
    toleratedJobs: 0,
    timedOut: false,
    attempts: [],
    place: "none",
    stageApproval: null,
    startTimer: { generation: 0, dueAt: 0 },
    timeoutTimer: null,
  };
  const jobs = plan.jobs.map((planned) => newJob(runId, planned));
  const actors: StoredActor[] = [
    { kind: "run", id: runId, state: run, index: indexRun(run) },
    ...jobs.map((job): StoredActor => ({ kind: "job", id: job.jobId, state: job, index: jobActor.index(job) })),
    // The steps of a job that is spread when it begins are those of its cells.
    ...jobs.flatMap((job) =>
      (plan.jobs[job.index]!.cells === null ? plan.jobs[job.index]!.steps : []).map((_, index): StoredActor => {
        const step = newStep(job, index);
        return { kind: "step", id: step.stepRunId, state: step, index: stepActor.index(step) };
      }),
    ),
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
