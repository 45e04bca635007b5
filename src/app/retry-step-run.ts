/** The further attempt of one step: its run is run again from there. */
import { type StepState, stepStatus } from "../../actors/step/state.ts";
import { shownAttempt } from "../domain/attempts.ts";
import { MillraceError } from "../domain/errors.ts";
import { jobRunId, type JobRunId, type PipelineId, type RunId, type StepRunId, stepRunId } from "../domain/ids.ts";
import type { AgentSelector } from "../domain/labels.ts";
import type { PlannedStep, StepSpec } from "../domain/plan.ts";
import type { StepStatus } from "../domain/status.ts";
import { authoriseUser, type Caller } from "./access.ts";
import type { AppContext } from "./context.ts";
import { rerunRun } from "./rerun.ts";
import { noStepRun } from "./step-runs.ts";

/** A step run with what it does. */
export interface StepRunView {
  readonly stepRunId: StepRunId;
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly jobId: JobRunId;
  /** Position in the job. */
  readonly index: number;
  readonly status: StepStatus;
  readonly attempt: number;
  readonly retryOf: StepRunId | null;
  /** Null while no agent has it. */
  readonly agentId: string | null;
  readonly reason: string;
  readonly exitCode: number | null;
  readonly lastLine: number | null;
  /** Unix milliseconds. */
  readonly queuedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly planned: PlannedStep;
  readonly spec: StepSpec;
  readonly selector: AgentSelector;
}

/** Throws `not_found`, and what {@link rerunRun} throws. */
export async function retryStepRun(
  context: AppContext,
  caller: Caller,
  input: { readonly stepRunId: StepRunId; readonly requestId: string },
): Promise<StepRunView> {
  authoriseUser(caller, "triggerRun");
  const located = await context.stores.aggregates.findStep(input.stepRunId);
  if (located === undefined) throw noStepRun(input.stepRunId);
  const { runId } = await rerunRun(context, caller, { ...input, scope: "step", runId: located.runId });
  const { jobIndex, index } = located.actor.state as StepState;
  return readStepRun(context, runId, jobIndex, index);
}

/** The first attempt of a step in a run. */
async function readStepRun(
  { stores }: AppContext,
  runId: RunId,
  jobIndex: number,
  index: number,
): Promise<StepRunView> {
  const [aggregate, plan, job] = await Promise.all([
    stores.aggregates.load(runId),
    stores.plans.loadPlan(runId),
    stores.plans.loadJob(runId, jobIndex),
  ]);
  const id = stepRunId(runId, jobRunId(runId, jobIndex, 1), index, 1);
  const step = aggregate?.actors.find((actor) => actor.id === id)?.state as StepState | undefined;
  const planned = plan?.jobs[jobIndex];
  const spec = job?.steps[index];
  if (step === undefined || planned === undefined || spec === undefined) {
    throw new MillraceError("internal", `step run ${id} is not in the store`);
  }
  return {
    stepRunId: id,
    runId,
    pipelineId: plan!.pipelineId,
    jobId: step.jobId,
    index,
    status: stepStatus(step.state),
    attempt: shownAttempt(step),
    retryOf: step.retryOf,
    agentId: step.grant?.agentId ?? null,
    reason: step.reason,
    exitCode: step.exitCode,
    lastLine: step.lastLine,
    queuedAt: step.queuedAt,
    startedAt: step.startedAt,
    endedAt: step.endedAt,
    planned: planned.steps[index]!,
    spec,
    selector: planned.selector,
  };
}
