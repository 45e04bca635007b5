/** Finds the step that an agent holds, by the id of the step run and the fencing token. */
import { isGrantOf, isHeld, type StepState } from "../../actors/step/state.ts";
import type { WithStores } from "../app/context.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentId, RunId, StepRunId } from "../domain/ids.ts";

export interface StepGrant {
  readonly stepRunId: StepRunId;
  readonly token: number;
}

/**
 * The step that the agent holds under this token. Throws `conflict` when the step has ended or is not granted to the
 * agent.
 */
export async function requireHeldStep(
  { stores }: WithStores<"aggregates">,
  agentId: AgentId,
  { stepRunId, token }: StepGrant,
): Promise<{ readonly runId: RunId; readonly step: StepState }> {
  const location = await stores.aggregates.findStep(stepRunId);
  const step = location?.actor.state as StepState | undefined;
  if (location === undefined || step === undefined || !isGrantOf(step, agentId, token) || !isHeld(step)) {
    throw new MillraceError(
      "conflict",
      `this agent does not hold step run ${JSON.stringify(stepRunId)} under token ${token}, or it is over`,
    );
  }
  return { runId: location.runId, step };
}
