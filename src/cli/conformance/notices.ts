/** Notices that the suite sends to the agent in place of the control plane. A gateway receives them over the agent's feed channel. */
import { type AgentNotice, tellAgent } from "../../board/agent-notices.ts";
import { toGrantedStep } from "../../gateway/reconciliation.ts";
import type { RunId } from "../../domain/ids.ts";
import { type Bench, check } from "./bench.ts";

type GrantedStep = ReturnType<typeof toGrantedStep>;

export async function sendNotice(bench: Bench, notice: AgentNotice): Promise<void> {
  await tellAgent(bench.context, await bench.agentId(), notice);
}

/** The granted step with which the first step of a run was dispatched. */
export async function grantedStepOf(bench: Bench, runId: RunId): Promise<GrantedStep> {
  const { stepRunId } = (await bench.detail(runId)).jobs[0]!.steps[0]!;
  const location = await bench.context.stores.aggregates.findStep(stepRunId);
  const step = location?.actor.state as Parameters<typeof toGrantedStep>[0] | undefined;
  check(step !== undefined && step.grant !== null, "the step was granted");
  return toGrantedStep(step);
}
