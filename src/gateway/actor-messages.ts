/**
 * Messages that gateways send to actors on behalf of agents. Each may be sent again: it names the grant that it is
 * about.
 */
import type { ClaimRequested } from "../../actors/job/messages.ts";
import type { ReportPhase, StepReported } from "../../actors/step/messages.ts";
import type { TakenOffer } from "../board/board.ts";
import type { GrantedStep } from "../domain/effects.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentId, JobRunId, RunId, StepRunId } from "../domain/ids.ts";
import { OUTPUT_BOUNDS } from "../domain/outputs.ts";
import type { StepNotes } from "../domain/notes/notes.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { ResourceUsage } from "../domain/resource-usage.ts";
import type { AppContext } from "../app/context.ts";
import type { GatewayPorts } from "./context.ts";
import type { AgentBoot } from "../app/agents/agent-removal.ts";
import { putNotes } from "./step-notes.ts";
import { isGrantOf, type StepState } from "../../actors/step/state.ts";

/** Replaces the success of a step whose outputs do not fit. */
const OUTPUTS_TOO_LARGE = {
  phase: "failed",
  reason: `the outputs of this run would have more than ${OUTPUT_BOUNDS.runBytes} bytes in all with those of this step`,
} as const;

/** An agent's report about the start or the end of a step. */
export interface StepReport {
  readonly stepRunId: StepRunId;
  /** The run and the job that the agent says the step belongs to; empty texts and an absent value are not compared. */
  readonly ofJob?: { readonly runId: string; readonly jobId: string };
  readonly token: number;
  readonly phase: ReportPhase;
  /** -1 without an exit code. */
  readonly exitCode: number;
  readonly reason: string;
  /** Outputs of the step; empty except in final reports. */
  readonly outputs: Pairs<string>;
  /** Number of the last log line; 0 for an empty log. */
  readonly lastLine: number;
  readonly durationMs: number;
  readonly usage: ResourceUsage | null;
  /** Absent without notes. */
  readonly notes?: StepNotes;
}

/**
 * Sends a claim of an offered job to the job. The job answers over the agent's channel with a dispatch that has this
 * `requestId`, or with `refuseClaim`; the answer may be lost.
 */
export async function requestClaim(
  context: { readonly mailboxes: Pick<AppContext["mailboxes"], "send"> },
  { agentId, bootId }: AgentBoot,
  { runId, jobId, quotas }: Pick<TakenOffer, "runId" | "jobId" | "quotas">,
  requestId: string,
): Promise<void> {
  const message: ClaimRequested = { type: "claimRequested", agentId, bootId, requestId, quotas };
  await context.mailboxes.send({ rootId: runId, to: { kind: "job", id: jobId }, message });
}

/**
 * Stores the outputs and notes of a report, and then sends the report to its step. `runId` must be the run of the step.
 * When the outputs do not fit in the bound for the run, the step has failed. Safe to repeat.
 */
export async function sendReport(
  context: GatewayPorts,
  agentId: AgentId,
  runId: RunId,
  report: StepReport,
): Promise<void> {
  const { stepRunId, token, outputs, notes, exitCode, lastLine, durationMs, usage } = report;
  const stored =
    outputs.length === 0
      ? "none"
      : await context.stores.outputs.put({ runId, stepRunId, token, values: outputs }, OUTPUT_BOUNDS.runBytes);
  if (notes !== undefined) await putNotes(context.stores.notes, { runId, stepRunId, token }, notes);
  const { phase, reason } = stored === "full" && report.phase === "succeeded" ? OUTPUTS_TOO_LARGE : report;
  const message: StepReported = {
    type: "reported",
    agentId,
    hasOutputs: stored === "stored",
    token,
    phase,
    exitCode,
    reason,
    lastLine,
    durationMs,
    usage,
  };
  await context.mailboxes.send({ rootId: runId, to: { kind: "step", id: stepRunId }, message });
}

/**
 * Reports a granted step as failed because its dispatch cannot be built; `reason` is for people. A repeat changes
 * nothing.
 */
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
 * Looks up the step of a report and sends it the report. `refused`: the agent does not have that grant, and nothing is
 * sent. The step answers a final report over the agent's channel. Throws as {@link requireJobOf} does.
 */
export async function reportStep(
  context: GatewayPorts,
  agentId: AgentId,
  report: StepReport,
): Promise<"sent" | "refused"> {
  const location = await context.stores.aggregates.findStep(report.stepRunId);
  if (location === undefined || !isGrantOf(location.actor.state as StepState, agentId, report.token)) return "refused";
  requireJobOf(report, location);
  await sendReport(context, agentId, location.runId, report);
  return "sent";
}

/** Throws `malformed_request` for a report that names another run or job than that of its step. */
export function requireJobOf(
  { stepRunId, ofJob }: StepReport,
  step: { readonly runId: RunId; readonly jobId: JobRunId },
): void {
  for (const field of ["runId", "jobId"] as const) {
    const named = ofJob?.[field] ?? "";
    if (named === "" || named === step[field]) continue;
    const message = `names ${named}; the step ${stepRunId} belongs to ${step[field]}`;
    throw new MillraceError("malformed_request", `the report's ${field} ${message}`, {
      problems: [{ code: "invalid", pointer: `/report/${field}`, message }],
    });
  }
}
