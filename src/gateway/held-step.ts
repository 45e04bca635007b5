/** The step that an agent works on, named by its id and its fencing token. */
import { isGrantOf, isHeld, type StepState } from "../../actors/step/state.ts";
import type { WithStores } from "../app/context.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentId, RunId, StepRunId } from "../domain/ids.ts";

export interface StepGrant {
  readonly stepRunId: StepRunId;
  readonly token: number;
}

/** The step that the agent works on under this token; throws `conflict` when it is another's or over. */
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
