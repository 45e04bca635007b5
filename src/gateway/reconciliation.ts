/** What an agent holds, compared with what the store says that it holds. */
import { isBound, type JobState } from "../../actors/job/state.ts";
import { isGrantOf, isHeld, type StepState } from "../../actors/step/state.ts";
import type { GrantedStep } from "../domain/effects.ts";
import type { JobRunId, StepRunId } from "../domain/ids.ts";
import type { JobLocation } from "../stores/ports/aggregates.ts";
import type { DispatchBuilder } from "./dispatch-builder.ts";
import type { AgentNotice } from "../board/agent-notices.ts";
import type { GatewayPorts } from "./context.ts";
import { type AgentBoot, sendAgentLost } from "../app/agents/agent-removal.ts";

/** What an agent says that it holds. */
export interface AgentHoldings {
  /** Steps that run, or ended with a report that is not yet acknowledged. */
  readonly steps: readonly { readonly stepRunId: StepRunId; readonly token: number }[];
  /** Jobs whose workspace and slot it holds. */
  readonly jobIds: readonly JobRunId[];
  /** Why it takes no more at present, for people; empty when it does. */
  readonly takesNoJobs: string;
}

export interface Reconciliation {
  /** What the agent has missed, in order. */
  readonly notices: readonly AgentNotice[];
  /** Jobs that are bound to this boot of the agent. */
  readonly boundJobIds: readonly JobRunId[];
}

/**
 * Finds the orders that an agent has missed, and declares lost what an earlier boot of it held. Reads the store alone:
 * two indexed reads, and one for each thing that the agent holds and the store does not know as held.
 */
export async function reconcile(
  context: GatewayPorts,
  builder: Pick<DispatchBuilder, "cancelGraceMs">,
  boot: AgentBoot,
  holdings: AgentHoldings,
): Promise<Reconciliation> {
  const { aggregates } = context.stores;
  const [locations, jobs] = await Promise.all([
    aggregates.stepsHeldBy(boot.agentId),
    aggregates.jobsHeldBy(boot.agentId),
  ]);
  const bound = await loseEarlierBoots(context, boot, jobs);
  const steps = locations.map(({ actor }) => actor.state as StepState);
  const heldByAgent = new Set(holdings.steps.map(keyOf));
  const heldByStore = new Set(steps.map((step) => keyOf({ stepRunId: step.stepRunId, token: step.grant!.token })));
  const knownJobs = new Set(jobs.map(({ jobId }) => jobId));
  const notices = await Promise.all([
    ...steps
      .filter((step) => step.grant!.bootId === boot.bootId)
      .map((step) => noticesFor(step, builder, heldByAgent.has(keyOf({ ...step, token: step.grant!.token })))),
    ...holdings.steps
      .filter((held) => !heldByStore.has(keyOf(held)))
      .map((held) => verdictOn(context, boot, held.stepRunId, held.token)),
    ...holdings.jobIds.filter((jobId) => !knownJobs.has(jobId)).map((jobId) => releaseOf(context, boot, jobId)),
  ]);
  return { notices: notices.flat(), boundJobIds: bound.map(({ jobId }) => jobId) };
}

/**
 * The agent has ended and runs nothing any more: what it still holds begins anew elsewhere. What it has reported must have
 * been processed.
 */
export async function returnJobs(context: GatewayPorts, boot: AgentBoot): Promise<void> {
  for (const job of await context.stores.aggregates.jobsHeldBy(boot.agentId)) {
    if ((job.actor.state as JobState).grant!.bootId === boot.bootId)
      await sendAgentLost(context, job, boot, "agent_stopped");
  }
}

/** The order by which a held step was dispatched. */
export function grantedStep(step: StepState): GrantedStep {
  const { runId, jobId, jobIndex, jobAttempt, stepRunId, index: stepIndex } = step;
  return { ...step.grant!, runId, jobId, jobIndex, jobAttempt, stepRunId, stepIndex };
}

/** True when an agent's report has ended the step; false also when the plane ended it without one. */
export function hasEndedByReport(step: StepState): boolean {
  return !isHeld(step) && step.lastLine !== null;
}

/** An agent that came back with another boot id has nothing left of what it held. Answers the jobs of this boot. */
async function loseEarlierBoots(
  context: GatewayPorts,
  boot: AgentBoot,
  jobs: readonly JobLocation[],
): Promise<readonly JobLocation[]> {
  const ofThisBoot = jobs.filter(({ actor }) => (actor.state as JobState).grant!.bootId === boot.bootId);
  for (const job of jobs) {
    if (!ofThisBoot.includes(job))
      await sendAgentLost(context, job, (job.actor.state as JobState).grant!, "agent_restarted");
  }
  return ofThisBoot;
}

/** A step that the agent does not hold is dispatched again whatever its state: its journal knows what became of it. */
async function noticesFor(
  step: StepState,
  builder: Pick<DispatchBuilder, "cancelGraceMs">,
  isHeldByAgent: boolean,
): Promise<readonly AgentNotice[]> {
  const notices: AgentNotice[] = isHeldByAgent ? [] : [{ type: "dispatch", order: grantedStep(step) }];
  if (step.state === "cancelling") {
    const { jobId, stepRunId, reason } = step;
    const graceMs = await builder.cancelGraceMs(step.runId, step.jobIndex);
    notices.push({ type: "revoke", jobId, stepRunId, token: step.grant!.token, graceMs, reason });
  }
  return notices;
}

async function verdictOn(
  context: GatewayPorts,
  { agentId }: AgentBoot,
  stepRunId: StepRunId,
  token: number,
): Promise<readonly AgentNotice[]> {
  const step = (await context.stores.aggregates.findStep(stepRunId))?.actor.state as StepState | undefined;
  if (step === undefined || !isGrantOf(step, agentId, token)) return [{ type: "refuse", stepRunId, token }];
  // Granted since the first read.
  if (isHeld(step)) return [];
  // A step that the plane has ended by itself may still run at the agent: it has to be killed.
  return [{ type: hasEndedByReport(step) ? "acknowledge" : "refuse", stepRunId, token }];
}

async function releaseOf(
  context: GatewayPorts,
  { agentId }: AgentBoot,
  jobId: JobRunId,
): Promise<readonly AgentNotice[]> {
  const job = (await context.stores.aggregates.findJob(jobId))?.actor.state as JobState | undefined;
  const isOurs = job !== undefined && isBound(job) && job.grant?.agentId === agentId;
  const succeeded = job?.state === "success" && job.grant?.agentId === agentId;
  return isOurs ? [] : [{ type: "release", jobId, succeeded }];
}

function keyOf({ stepRunId, token }: { readonly stepRunId: StepRunId; readonly token: number }): string {
  return `${stepRunId}/${token}`;
}
