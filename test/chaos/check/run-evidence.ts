/**
 * Turns a run as the database holds it into evidence. Pure.
 */
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { type JobState, jobStatus } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import type { JobSpec, RunPlan } from "../../../src/domain/plan.ts";
import type { RunOrigin } from "../../../src/stores/ports/aggregates.ts";
import type { RunStatus } from "../../../src/domain/status.ts";
import { fromStored, type StoredFormat } from "../../../src/stores/format/stored-format.ts";
import type { StoredState } from "../../../src/stores/format/stored-parts.ts";
import type {
  ActorEvidence,
  ApprovalEvidence,
  JobEvidence,
  RunEvidence,
  StepEvidence,
  Transition,
} from "./evidence.ts";
import type { RawRun } from "./raw-store.ts";

/** The fields that jobs and steps have. */
type Attempted = Partial<Pick<JobState, "attempt" | "grant">>;

/** `rows`: the projections of the run, before and after the store has loaded it. */
export function runEvidence(
  run: RawRun,
  { rows, startedBy }: Pick<RunEvidence, "rows" | "startedBy">,
  format: StoredFormat,
): RunEvidence {
  const { runId, status, settled, owed, eventNumber, events } = run;
  const statesOf = <S>(kind: "job" | "step" | "approval" | "run"): readonly S[] =>
    run.actors.flatMap((actor) =>
      actor.kind === kind ? [fromStored(format, kind, actor.state as StoredState, `${kind} ${actor.id}`) as S] : [],
    );
  const jobs = statesOf<JobState>("job");
  const steps = statesOf<StepState>("step");
  const approvals = statesOf<ApprovalState>("approval");
  const stored = new Map(run.actors.map(({ id, state }) => [id, state]));
  const actorOf = (
    kind: string,
    id: string,
    { state, attempt = 1, grant = null }: Pick<JobState | StepState | ApprovalState | RunState, "state"> & Attempted,
  ): ActorEvidence => ({ kind, id, phase: state, attempt, agentId: grant?.agentId ?? null, state: stored.get(id) });
  const plan = fromStored(format, "plan", run.plan as RunPlan, `the plan of ${runId}`);
  const specs = run.specs.map((spec) => fromStored(format, "spec", spec as JobSpec, `a job of the plan of ${runId}`));
  return {
    runId,
    startedBy,
    status: status as RunStatus,
    settled,
    owed,
    eventNumber,
    events: events as readonly Transition[],
    jobs: jobEvidence(jobs, steps, plan, specs),
    approvals: approvals.map(approvalEvidence),
    actors: [
      ...statesOf<RunState>("run").map((state) => actorOf("run", runId, state)),
      ...jobs.map((job) => actorOf("job", job.jobId, job)),
      ...steps.map((step) => actorOf("step", step.stepRunId, step)),
      ...approvals.map((approval) => actorOf("approval", approval.approvalId, approval)),
    ],
    rows,
  };
}

/** What has started a run by itself, in the words of {@link PromisedStart}; null for a run that a client has triggered. */
export function causeOf({ scheduled, event }: RunOrigin["trigger"]): string | null {
  if (scheduled !== undefined) return timeCause(scheduled.name, scheduled.at);
  return event === undefined ? null : deliveryCause(event.sha, event.trigger);
}

/** `atMs`: the time of the schedule, Unix milliseconds. */
export const timeCause = (schedule: string, atMs: number): string => `schedule ${schedule} at ${atMs}`;
export const deliveryCause = (commit: string, trigger: string): string => `delivery of ${commit} by ${trigger}`;

/** All attempts of jobs and steps. Without `specs`, all steps are taken for silent ones. */
export function jobEvidence(
  jobs: readonly JobState[],
  steps: readonly StepState[],
  plan: Pick<RunPlan, "jobs">,
  specs: readonly JobSpec[] = [],
): readonly JobEvidence[] {
  return jobs.map((job) => {
    const { jobId, index, cell, attempt, state, reason, grant, leaseMs, reusedFrom } = job;
    const { baseName, matrix } = plan.jobs[index]!;
    return {
      jobId,
      index,
      name: baseName,
      values: cell === null ? matrix : job.matrix,
      cell,
      attempt,
      status: jobStatus(state),
      reason,
      agentId: grant?.agentId ?? null,
      token: grant?.token ?? null,
      leaseMs,
      reused: reusedFrom !== null,
      steps: steps.filter((step) => step.jobId === jobId).map((step) => stepEvidence(step, specs[index])),
    };
  });
}

function stepEvidence(step: StepState, job: JobSpec | undefined): StepEvidence {
  const spec = job?.steps[step.index];
  return {
    stepRunId: step.stepRunId,
    index: step.index,
    attempt: step.attempt,
    status: stepStatus(step.state),
    reason: step.reason,
    token: step.grant?.token ?? null,
    reused: step.reusedFrom !== null,
    ...(spec?.uses === "shell" ? { secrets: spec.secrets.length } : { silent: true }),
  };
}

export function approvalEvidence({ approvalId, state, approvals, rejection }: ApprovalState): ApprovalEvidence {
  const approvers = approvals.map(({ userId }) => userId);
  return { approvalId, status: state, approvers, rejecter: rejection?.userId ?? null };
}
