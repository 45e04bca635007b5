/** An agent's own request to end a step that it holds. */
import { z } from "zod";
import { isHeld, type StepState } from "../../actors/step/state.ts";
import { MillraceError } from "../domain/errors.ts";
import { asId, type StepRunId } from "../domain/ids.ts";
import type { Caller } from "../app/identity/access.ts";
import type { DispatchBuilder } from "./dispatch-builder.ts";
import { tellAgent } from "../board/agent-notices.ts";
import { callingAgent } from "./registration.ts";
import type { GatewayPorts } from "./context.ts";

export const stepCancellation = z.object({
  stepRunId: z.string().min(1).max(128),
  reason: z.string().max(1_000),
});

/**
 * Sends the calling agent a revoke of a step that it holds, with the cancel grace of the job. The step's state does not
 * change until the agent reports the end. Throws `not_found` for a step that the agent never held, `conflict` for one
 * that has ended. Safe to repeat.
 */
export async function cancelHeldStep(
  context: GatewayPorts,
  builder: Pick<DispatchBuilder, "cancelGraceMs">,
  caller: Caller,
  request: z.output<typeof stepCancellation>,
): Promise<void> {
  const agentId = callingAgent(caller);
  const stepRunId = asId<StepRunId>(request.stepRunId);
  const step = (await context.stores.aggregates.findStep(stepRunId))?.actor.state as StepState | undefined;
  if (step?.grant?.agentId !== agentId) {
    throw new MillraceError("not_found", `this agent holds no step run ${JSON.stringify(stepRunId)}`);
  }
  if (!isHeld(step)) throw new MillraceError("conflict", `the step run ${stepRunId} has ended`);
  const graceMs = await builder.cancelGraceMs(step.runId, step.jobIndex);
  const reason = request.reason === "" ? "cancelled at the agent" : request.reason;
  const { jobId, grant } = step;
  await tellAgent(context, agentId, { type: "revoke", jobId, stepRunId, token: grant.token, graceMs, reason });
}
