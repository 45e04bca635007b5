/** Retries one step: a rerun of its run that begins with this step. */
import type { StepState } from "../../../actors/step/state.ts";
import { jobRunId, type StepRunId, stepRunId } from "../../domain/ids.ts";
import type { Caller } from "../identity/access.ts";
import type { TriggeringContext } from "./context.ts";
import { rerunRun } from "./rerun.ts";
import { reachStep } from "../reaching.ts";
import { noStepRun } from "../step-runs.ts";
import { showStepRun } from "../runs/read-step-runs.ts";
import type { StepRunView } from "../runs/step-run-view.ts";

/** Answers the new attempt. Throws `not_found`, and what {@link rerunRun} throws. */
export async function retryStepRun(
  context: TriggeringContext,
  caller: Caller,
  input: { readonly stepRunId: StepRunId; readonly requestId: string },
): Promise<StepRunView> {
  const missing = () => noStepRun(input.stepRunId);
  const { found: located } = await reachStep(context, caller, "triggerRun", input.stepRunId, missing);
  const { runId } = await rerunRun(context, caller, { ...input, scope: "step", runId: located.runId });
  const { jobIndex, index } = located.actor.state as StepState;
  return showStepRun(context, caller, runId, stepRunId(runId, jobRunId(runId, jobIndex, 1), index, 1));
}
