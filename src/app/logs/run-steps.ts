/** The step runs of a run that may have a log, in the order of the plan. */
import type { JobState } from "../../../actors/job/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import type { JobRunId, RunId, StepRunId } from "../../domain/ids.ts";
import type { WithStores } from "../context.ts";
import { noRun } from "../lookups.ts";
import { loopShare } from "../loop-share.ts";
import { statesByKind } from "../runs/run-view.ts";

export interface StepWithLog {
  readonly stepRunId: StepRunId;
  /** The step run that wrote the log, and its run; other ones for a reused step. */
  readonly logOf: StepRunId;
  readonly jobId: JobRunId;
  /** Positions in the plan. */
  readonly jobIndex: number;
  readonly index: number;
  readonly cell: number;
  readonly matrix: JobState["matrix"];
  readonly jobAttempt: number;
  readonly attempt: number;
  readonly isReused: boolean;
  /** Number of the last line of its log; null before the end, and for a reused step. */
  readonly lastLine: number | null;
  /** Unix milliseconds; null before the end. */
  readonly endedAt: number | null;
}

/** Every attempt of every step that was given to an agent, or that reuses the log of one. Throws `not_found`. */
export async function stepsWithLog({ stores }: WithStores<"aggregates">, runId: RunId): Promise<StepWithLog[]> {
  const aggregate = await stores.aggregates.loadInPieces(runId, () => loopShare.enter());
  if (aggregate === undefined) throw noRun(runId, undefined);
  const { jobs, steps } = statesByKind(aggregate);
  const jobById = new Map(jobs.map((job) => [job.jobId, job]));
  return steps
    .filter(({ grant, reusedFrom }) => grant !== null || reusedFrom !== null)
    .map((step) => placed(step, jobById.get(step.jobId)!))
    .sort(byPlan);
}

function placed(step: StepState, job: JobState): StepWithLog {
  const { stepRunId, jobId, jobIndex, index, attempt, reusedFrom, endedAt, lastLine } = step;
  const place = { jobIndex, index, cell: job.cell ?? 0, matrix: job.matrix, jobAttempt: job.attempt, attempt };
  return {
    stepRunId,
    logOf: reusedFrom ?? stepRunId,
    jobId,
    ...place,
    isReused: reusedFrom !== null,
    lastLine,
    endedAt,
  };
}

function byPlan(a: StepWithLog, b: StepWithLog): number {
  return (
    a.jobIndex - b.jobIndex ||
    a.cell - b.cell ||
    a.jobAttempt - b.jobAttempt ||
    a.index - b.index ||
    a.attempt - b.attempt
  );
}
