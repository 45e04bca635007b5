/** What gateways tell the actors on behalf of agents. Each letter may be sent again: it names the grant it speaks of. */
import type { ClaimRequested } from "../../actors/job/messages.ts";
import type { ReportPhase, StepReported } from "../../actors/step/messages.ts";
import type { TakenOffer } from "../board/board.ts";
import type { GrantedStep } from "../domain/effects.ts";
import type { AgentId, RunId, StepRunId } from "../domain/ids.ts";
import { OUTPUT_BOUNDS } from "../domain/outputs.ts";
import type { Pairs } from "../domain/plan.ts";
import type { ResourceUsage } from "../domain/resource-usage.ts";
import type { AppContext } from "../app/context.ts";
import type { GatewayPorts } from "./context.ts";
import type { AgentBoot } from "../app/agents/agent-removal.ts";
import { isGrantOf, type StepState } from "../../actors/step/state.ts";

const OVERFULL = {
  phase: "failed",
  reason: `the outputs of this run would have more than ${OUTPUT_BOUNDS.runBytes} bytes in all with those of this step`,
} as const;

export interface StepReport {
  readonly stepRunId: StepRunId;
  readonly token: number;
  readonly phase: ReportPhase;
  /** -1 when there is none. */
  readonly exitCode: number;
  readonly reason: string;
  /** What the step has written for later ones; of final reports alone. */
  readonly outputs: Pairs<string>;
  /** 0 when there is none. */
  readonly lastLine: number;
  readonly durationMs: number;
  readonly usage: ResourceUsage | null;
}

/**
 * Asks for an offered job. The answer comes over the agent's channel, if at all: a dispatch with this `requestId`, or
 * `refuseClaim`.
 */
export async function requestClaim(
  context: Pick<AppContext, "mailboxes">,
  { agentId, bootId }: AgentBoot,
  { runId, jobId, quotas }: Pick<TakenOffer, "runId" | "jobId" | "quotas">,
  requestId: string,
): Promise<void> {
  const message: ClaimRequested = { type: "claimRequested", agentId, bootId, requestId, quotas };
  await context.mailboxes.send({ rootId: runId, to: { kind: "job", id: jobId }, message });
}

/**
 * Hands a report to its step, its outputs to the store first; `runId` must be known to be the step's own. A step whose outputs find
 * no room in those of its run has failed.
 */
export async function sendReport(
  context: GatewayPorts,
  agentId: AgentId,
  runId: RunId,
  { stepRunId, outputs, ...report }: StepReport,
): Promise<void> {
  const kept = { runId, stepRunId, token: report.token, values: outputs };
  const stored = outputs.length === 0 ? "none" : await context.stores.outputs.put(kept, OUTPUT_BOUNDS.runBytes);
  const told = stored === "full" && report.phase === "succeeded" ? { ...report, ...OVERFULL } : report;
  const message: StepReported = { type: "reported", agentId, hasOutputs: stored === "stored", ...told };
  await context.mailboxes.send({ rootId: runId, to: { kind: "step", id: stepRunId }, message });
}

/** Ends a step that was granted and that no agent can be told of; a repeat changes nothing. */
export async function reportRefusedDispatch(context: GatewayPorts, step: GrantedStep, reason: string): Promise<void> {
  const { agentId, runId, stepRunId, token } = step;
  const report = {
    stepRunId,
    token,
    phase: "failed",
    exitCode: -1,
    reason,
    outputs: [],
    lastLine: 0,
    durationMs: 0,
    usage: null,
  } as const;
  await sendReport(context, agentId, runId, report);
}

/**
 * Hands on a report of a step that the caller knows nothing of. `refused`: the agent does not hold that grant, and
 * nobody is told. Final reports are answered over the agent's channel.
 */
export async function reportStep(
  context: GatewayPorts,
  agentId: AgentId,
  report: StepReport,
): Promise<"sent" | "refused"> {
  const location = await context.stores.aggregates.findStep(report.stepRunId);
  if (location === undefined || !isGrantOf(location.actor.state as StepState, agentId, report.token)) return "refused";
  await sendReport(context, agentId, location.runId, report);
  return "sent";
}
