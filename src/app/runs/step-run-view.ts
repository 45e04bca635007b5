/** Step runs as users read them: what each step does, and how far it is. */
import { hash } from "node:crypto";
import { type JobState, priorityOf } from "../../../actors/job/state.ts";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import { shownAttempt } from "../../domain/attempts.ts";
import type { JobRunId, PipelineId, RunId, StepRunId } from "../../domain/ids.ts";
import type { AgentSelector } from "../../domain/labels.ts";
import type { Pairs } from "../../domain/pairs.ts";
import type { JobSpec, PlannedStep, StepSpec } from "../../domain/plan.ts";
import type { ResourceUsage } from "../../domain/resource-usage.ts";
import type { StepStatus } from "../../domain/status.ts";
import type { WithStores } from "../context.ts";
import { noPlan } from "../lookups.ts";
import type { LoadContext, LoadedRun } from "./loaded-run.ts";
import { type Linked, selectAttempts, statesByKind } from "./run-view.ts";
import { noStepRun } from "../step-runs.ts";
import { jobWaitingFor, stepWaitingFor, type WaitingFor } from "./waiting.ts";

/** A step run with its status and what it does. */
export interface StepRunView {
  readonly stepRunId: StepRunId;
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly jobId: JobRunId;
  /** Position in the job. */
  readonly index: number;
  readonly status: StepStatus;
  readonly attempt: number;
  /** The previous and the next attempt within the run; null for none. A rerun of the run does not count. */
  readonly retryOf: string | null;
  readonly retriedBy: string | null;
  /** The step run of an earlier run whose result, outputs and log this one reuses. */
  readonly reusedFrom: StepRunId | null;
  /** Null before the step is granted to an agent. */
  readonly agentId: string | null;
  readonly reason: string;
  readonly waitingFor: WaitingFor | null;
  readonly exitCode: number | null;
  readonly lastLine: number | null;
  /** Unix milliseconds. */
  readonly queuedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Null before the end, and when the agent cannot measure it. */
  readonly usage: ResourceUsage | null;
  /** Of its job. */
  readonly priority: number;
  readonly metadata: Pairs<string>;
  readonly planned: PlannedStep;
  readonly spec: StepSpec;
  readonly selector: AgentSelector;
}

/** Differs for each value of what users change of a step run. */
export function stepVersion({ priority, metadata }: Pick<StepRunView, "priority" | "metadata">): string {
  return hash("sha1", JSON.stringify([priority, metadata]), "base64url");
}

/** A step with its job. */
export interface PlacedStep {
  readonly step: Linked<StepState>;
  readonly job: JobState;
}

/**
 * Views of the step runs of one run. `choose` gets them in the order of the plan, newest attempts only or all attempts,
 * and answers those to show.
 */
export async function viewStepRuns(
  context: LoadContext,
  { aggregate, plan, agents, waitFacts }: LoadedRun,
  allAttempts: boolean,
  choose: (steps: readonly PlacedStep[]) => readonly PlacedStep[],
): Promise<readonly StepRunView[]> {
  const runId = aggregate.head.rootId;
  const { jobs, steps } = statesByKind(aggregate);
  const chosen = choose(inPlanOrder(jobs, steps, allAttempts));
  const specs = await loadSpecs(context, runId, chosen);
  return chosen.map(({ step, job }) => {
    const planned = plan.jobs[job.index]!;
    return {
      stepRunId: step.stepRunId,
      runId,
      pipelineId: plan.pipelineId,
      jobId: step.jobId,
      index: step.index,
      status: stepStatus(step.state),
      attempt: shownAttempt(step),
      retryOf: step.retryOf,
      retriedBy: step.retriedBy,
      reusedFrom: step.reusedFrom,
      agentId: step.grant?.agentId ?? null,
      reason: step.reason,
      waitingFor: stepWaitingFor(step, job, plan, jobWaitingFor(job, plan, agents, waitFacts), agents),
      exitCode: step.exitCode,
      lastLine: step.lastLine,
      queuedAt: step.queuedAt,
      startedAt: step.startedAt,
      endedAt: step.endedAt,
      usage: step.usage,
      priority: priorityOf(job, plan),
      metadata: step.metadata ?? [],
      planned: planned.steps[step.index]!,
      spec: specs.get(job.index)!.steps[step.index]!,
      selector: planned.selector,
    };
  });
}

/** One step run of any attempt. Throws `not_found`. */
export async function viewStepRun(context: LoadContext, loaded: LoadedRun, stepRunId: StepRunId): Promise<StepRunView> {
  const [found] = await viewStepRuns(context, loaded, true, (steps) =>
    steps.filter(({ step }) => step.stepRunId === stepRunId),
  );
  if (found === undefined) throw noStepRun(stepRunId);
  return found;
}

export function inPlanOrder(
  jobs: readonly JobState[],
  steps: readonly StepState[],
  allAttempts: boolean,
): readonly PlacedStep[] {
  const byId = new Map(selectAttempts(jobs, "jobId", allAttempts).map((job) => [job.jobId, job]));
  return selectAttempts(steps, "stepRunId", allAttempts)
    .flatMap((step) => {
      const job = byId.get(step.jobId);
      return job === undefined ? [] : [{ step, job }];
    })
    .sort(
      (a, b) =>
        a.job.index - b.job.index ||
        (a.job.cell ?? 0) - (b.job.cell ?? 0) ||
        a.job.attempt - b.job.attempt ||
        a.step.index - b.step.index ||
        a.step.attempt - b.step.attempt,
    );
}

async function loadSpecs(
  { stores }: WithStores<"plans">,
  runId: RunId,
  steps: readonly PlacedStep[],
): Promise<ReadonlyMap<number, JobSpec>> {
  const indices = [...new Set(steps.map(({ job }) => job.index))];
  const specs = await Promise.all(indices.map((index) => stores.plans.loadJob(runId, index)));
  return new Map(
    indices.map((index, at) => {
      const spec = specs[at];
      if (spec === undefined) throw noPlan(runId);
      return [index, spec];
    }),
  );
}
