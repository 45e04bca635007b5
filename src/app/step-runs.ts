/** Looks up a step run by the three ids that name it in the API: pipeline, job and step run. */
import type { StepState } from "../../actors/step/state.ts";
import { MillraceError } from "../domain/errors.ts";
import type { JobRunId, PipelineId, RunId, StepRunId } from "../domain/ids.ts";
import { authoriseUser, type Caller, type UserOperation } from "./identity/access.ts";
import type { WithStores } from "./context.ts";

export interface StepRunName {
  readonly pipelineId: PipelineId;
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
}

export interface LocatedStepRun {
  readonly runId: RunId;
  /** The builtin that runs the step, such as `shell`, or a plugin reference. Empty when the plan has no such step. */
  readonly uses: string;
  /** The step run that wrote the log: for a reused step, the step run of the earlier run; else the step run itself. */
  readonly logOf: StepRunId;
}

/** Throws `forbidden`, and `not_found` when there is no such step run or the three ids do not belong together. */
export async function locateStepRun(
  context: WithStores<"aggregates" | "plans">,
  caller: Caller,
  operation: UserOperation,
  { pipelineId, jobId, stepRunId }: StepRunName,
): Promise<LocatedStepRun> {
  authoriseUser(caller, operation);
  const location = await context.stores.aggregates.findStep(stepRunId);
  if (location === undefined) throw noStepRun(stepRunId);
  const { runId } = location;
  const head = await context.stores.aggregates.loadHead(runId);
  if (location.jobId !== jobId || head?.summary.pipelineId !== pipelineId) {
    throw new MillraceError(
      "not_found",
      `step run ${JSON.stringify(stepRunId)} is not of job ${JSON.stringify(jobId)} in pipeline ${JSON.stringify(pipelineId)}`,
    );
  }
  const step = location.actor.state as StepState;
  const job = await context.stores.plans.loadJob(runId, step.jobIndex);
  return { runId, uses: job?.steps[step.index]?.uses ?? "", logOf: step.reusedFrom ?? stepRunId };
}

export function noStepRun(stepRunId: StepRunId, runId?: RunId): MillraceError {
  const where = runId === undefined ? "" : ` in run ${JSON.stringify(runId)}`;
  return new MillraceError("not_found", `there is no step run ${JSON.stringify(stepRunId)}${where}`);
}
