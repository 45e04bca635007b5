/** Compares what an agent holds with what the store says that it holds. */
import { isBound, type JobState } from "../../actors/job/state.ts";
import { isGrantOf, isHeld, type StepState } from "../../actors/step/state.ts";
import type { GrantedStep } from "../domain/effects.ts";
import { MillraceError } from "../domain/errors.ts";
import type { JobRunId, StepRunId } from "../domain/ids.ts";
import type { JobLocation } from "../stores/ports/aggregates.ts";
import type { DispatchBuilder } from "./dispatch-builder.ts";
import type { AgentNotice } from "../board/agent-notices.ts";
import type { GatewayPorts } from "./context.ts";
import { type AgentBoot, sendAgentLost } from "../app/agents/agent-removal.ts";
import { requireConnected } from "./second-process.ts";

/** What an agent says that it holds. */
export interface AgentHoldings {
  /** Steps that run, or ended with a report that is not yet acknowledged. */
  readonly steps: readonly { readonly stepRunId: StepRunId; readonly token: number }[];
  /** Jobs that have a workspace and a slot at the agent. */
  readonly jobIds: readonly JobRunId[];
  /** Why the agent takes no jobs at present, for people; empty when it takes jobs. */
  readonly takesNoJobs: string;
  /** How many jobs the agent takes beyond `jobIds`; absent for any number. */
  readonly jobsLeft?: number;
}

export interface Reconciliation {
  /** Notices that the agent has missed, in order. */
  readonly notices: readonly AgentNotice[];
  /** Jobs that are bound to this boot of the agent. */
  readonly boundJobIds: readonly JobRunId[];
}

/** For an agent that holds nothing, as most heartbeats tell. */
const NOTHING: Reconciliation = { notices: [], boundJobIds: [] };

/**
 * Finds the notices that an agent has missed, and declares jobs lost that an earlier boot of the agent held. Reads only
 * the store: two indexed reads, and one more for each step or job that the agent holds and the store does not know as
 * held. Throws `conflict` for an earlier boot, and `unavailable` in place of declaring anything lost when the agent has
 * hung up.
 */
export async function reconcile(
  context: GatewayPorts,
  builder: Pick<DispatchBuilder, "cancelGraceMs">,
  boot: AgentBoot,
  holdings: AgentHoldings,
  hungUp: AbortSignal,
): Promise<Reconciliation> {
  const { aggregates } = context.stores;
  const [locations, jobs] = await Promise.all([
    aggregates.stepsHeldBy(boot.agentId),
    aggregates.jobsHeldBy(boot.agentId),
  ]);
  if (locations.length + jobs.length + holdings.steps.length + holdings.jobIds.length === 0) return NOTHING;
  const bound = await declareEarlierBootsLost(context, boot, jobs, hungUp);
  const steps = locations.map(({ actor }) => actor.state as StepState);
  const heldByAgent = new Set(holdings.steps.map(keyOf));
  const heldByStore = new Set(steps.map((step) => keyOf({ stepRunId: step.stepRunId, token: step.grant!.token })));
  const knownJobs = new Set(jobs.map(({ jobId }) => jobId));
  const notices = await Promise.all([
    ...steps
      .filter((step) => step.grant!.bootId === boot.bootId)
      .map((step) => noticesForHeldStep(step, builder, heldByAgent.has(keyOf({ ...step, token: step.grant!.token })))),
    ...holdings.steps
      .filter((held) => !heldByStore.has(keyOf(held)))
      .map((held) => noticesForUnknownStep(context, boot, held.stepRunId, held.token)),
    ...holdings.jobIds
      .filter((jobId) => !knownJobs.has(jobId))
      .map((jobId) => noticesForUnknownJob(context, boot, jobId)),
  ]);
  return { notices: notices.flat(), boundJobIds: bound.map(({ jobId }) => jobId) };
}

/**
 * Gives back the jobs of an agent that has ended: each job starts again on another agent. The agent's reports must have
 * been processed before.
 */
export async function returnJobs(context: GatewayPorts, boot: AgentBoot): Promise<void> {
  for (const job of await context.stores.aggregates.jobsHeldBy(boot.agentId)) {
    if ((job.actor.state as JobState).grant!.bootId === boot.bootId)
      await sendAgentLost(context, job, boot, "agent_stopped");
  }
}

/** The granted step from which a held step is dispatched again. */
export function toGrantedStep(step: StepState): GrantedStep {
  const { runId, jobId, jobIndex, jobAttempt, stepRunId, index: stepIndex } = step;
  return { ...step.grant!, runId, jobId, jobIndex, jobAttempt, stepRunId, stepIndex };
}

/**
 * True when an agent's report has ended the step; false when the step has not ended, and when the control plane ended
 * it.
 */
export function hasEndedByReport(step: StepState): boolean {
  return !isHeld(step) && step.lastLine !== null;
}

/**
 * Declares jobs of earlier boots lost: an agent with a new boot id holds nothing of its earlier boots. Answers the jobs
 * of this boot. Throws `conflict` when `boot` is itself an earlier one: a late message of it must not take the jobs of
 * the newer boot away, which has shown its presence before it got any.
 */
async function declareEarlierBootsLost(
  context: GatewayPorts,
  boot: AgentBoot,
  jobs: readonly JobLocation[],
  hungUp: AbortSignal,
): Promise<readonly JobLocation[]> {
  const ofThisBoot = jobs.filter(({ actor }) => (actor.state as JobState).grant!.bootId === boot.bootId);
  if (ofThisBoot.length === jobs.length) return jobs;
  const [present, agent] = await Promise.all([
    context.presence.read([boot.agentId]),
    context.stores.identity.findAgent(boot.agentId),
  ]);
  // Presence knows a newer boot first; the store knows it also after Redis was emptied.
  for (const newest of [present.get(boot.agentId)?.bootId, agent?.bootId]) {
    if (newest !== undefined && newest !== boot.bootId) throw startedAgain();
  }
  requireConnected(hungUp);
  for (const job of jobs) {
    if (!ofThisBoot.includes(job))
      await sendAgentLost(context, job, (job.actor.state as JobState).grant!, "agent_restarted");
  }
  return ofThisBoot;
}

/** The reason for which messages of an earlier boot of an agent are refused. */
export function startedAgain(): MillraceError {
  return new MillraceError("conflict", "the agent has been started again since: this boot id is no longer valid");
}

/**
 * A held step is dispatched again when the agent does not have it, whatever its state: the agent's journal knows what
 * became of it.
 */
async function noticesForHeldStep(
  step: StepState,
  builder: Pick<DispatchBuilder, "cancelGraceMs">,
  isHeldByAgent: boolean,
): Promise<readonly AgentNotice[]> {
  const notices: AgentNotice[] = isHeldByAgent ? [] : [{ type: "dispatch", order: toGrantedStep(step) }];
  if (step.state === "cancelling") {
    const { jobId, stepRunId, reason } = step;
    const graceMs = await builder.cancelGraceMs(step.runId, step.jobIndex);
    notices.push({ type: "revoke", jobId, stepRunId, token: step.grant!.token, graceMs, reason });
  }
  return notices;
}

async function noticesForUnknownStep(
  context: GatewayPorts,
  { agentId }: AgentBoot,
  stepRunId: StepRunId,
  token: number,
): Promise<readonly AgentNotice[]> {
  const step = (await context.stores.aggregates.findStep(stepRunId))?.actor.state as StepState | undefined;
  if (step === undefined || !isGrantOf(step, agentId, token)) return [{ type: "refuse", stepRunId, token }];
  // The step was granted after the first read.
  if (isHeld(step)) return [];
  // A step that the control plane ended without a report may still run at the agent: the agent has to kill it.
  if (!hasEndedByReport(step)) return [{ type: "refuse", stepRunId, token }];
  // The agent forgets an acknowledged report. An end that a failure of the store may undo is not acknowledged yet.
  const durable = (await context.stores.aggregates.findDurableStep(stepRunId))?.actor.state as StepState | undefined;
  return durable !== undefined && hasEndedByReport(durable) ? [{ type: "acknowledge", stepRunId, token }] : [];
}

async function noticesForUnknownJob(
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
