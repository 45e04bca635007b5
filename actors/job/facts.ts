/** What expressions read of jobs and steps that have ended. Final states never change, so it does not matter when they are read. Pure. */
import { type JobRunId, jobRunId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import { MissingOutputs, type OutputsKey } from "../../src/domain/outputs.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { Pairs, RunPlan } from "../../src/domain/plan.ts";
import type { Json } from "../../src/expressions/context-data.ts";
import type { JobResult } from "../run/messages.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { resolveOutput } from "../../src/planner/deferred-texts.ts";
import { type StepState, stepStatus } from "../step/state.ts";
import type { JobState } from "./state.ts";

/** By name; null where it could not be made. */
export type JobOutputs = Readonly<Record<string, Json>>;

/** As expressions read it. */
type Result = "success" | "failed" | "cancelled" | "";

/**
 * `jobs.<name>`: the outputs of a matrix are lists, with a value for each cell, and its result is the worst of theirs;
 * empty while one has not ended.
 */
export function jobFacts(runId: RunId, plan: RunPlan, peers: Peers): Facts {
  return (context, name, part) => {
    if (context !== "jobs") return null;
    const planned = plan.jobs.filter(({ baseName }) => baseName === name);
    const result = worst(planned.map(({ index }) => wordOf(runId, index, peers)));
    if (part === "result") return { result };
    const isMatrix = planned.some(({ matrix, cells }) => matrix.length > 0 || cells !== null);
    const runs = planned.flatMap(({ index }) => cellsOf(runId, index, peers));
    const outputs = outputsOfJobs(runs, plan, peers);
    const names = planned[0]?.outputs.map(([output]) => output) ?? [];
    const valueOf = (output: string): Json => {
      const values = outputs.map((each) => each[output] ?? null);
      return isMatrix ? values : (values[0] ?? null);
    };
    return { result, outputs: Object.fromEntries(names.map((output) => [output, valueOf(output)])) };
  };
}

/** `steps.<id>` of the job's steps, and the `matrix` of a cell that was made when it began, besides. */
export function stepFacts(
  job: Pick<JobState, "runId" | "jobId" | "index" | "matrix">,
  plan: RunPlan,
  peers: Peers,
): Facts {
  const { runId, jobId, index: jobIndex } = job;
  const ofJobs = jobFacts(runId, plan, peers);
  return (context, name, part) => {
    if (context === "matrix") return Object.fromEntries(job.matrix);
    if (context !== "steps") return ofJobs(context, name, part);
    const index = plan.jobs[jobIndex]!.steps.findIndex(({ id }) => id === name);
    const step = newestStep(runId, jobId, index, peers);
    const result = step === undefined ? "" : stepStatus(step.state);
    return part === "result" ? { result } : { result, outputs: Object.fromEntries(writtenBy(step, peers)) };
  };
}

/** The newest attempts of the other cells of the job's matrix, in the order of the plan. */
export function otherCells(runId: RunId, index: number, plan: RunPlan, peers: Peers): readonly JobState[] {
  const { baseName } = plan.jobs[index]!;
  const cells = plan.jobs.filter((other) => other.baseName === baseName && other.index !== index);
  return cells.flatMap((cell) => newestJob(runId, cell.index, peers) ?? []);
}

/** True for a job that a user has cancelled. */
export function wasCancelled(runId: RunId, index: number, peers: Peers): boolean {
  const job = newestJob(runId, index, peers);
  return job?.state === "cancelled" && job.reason === "cancelled";
}

/** The id of the newest attempt of a job, or of a cell that it was spread into; undefined when there is none. */
export function newestAttempt(runId: RunId, index: number, cell: number | null, peers: Peers): JobRunId | undefined {
  const job = newestJob(runId, index, peers);
  if (job === undefined || cell === null) return job?.jobId;
  const attempt = job.cells[cell]?.attempt;
  return attempt === undefined ? undefined : jobRunId(runId, index, attempt, cell);
}

/** How a job that has ended counts for its run, and for the jobs that need it. */
export function resultOf(
  { state, reason, index }: Pick<JobState, "state" | "reason" | "index">,
  plan: RunPlan,
): JobResult {
  if (state === "success") return "success";
  if (state === "failed") return plan.jobs[index]!.continueOnError ? "tolerated" : "failed";
  // Neither counts beyond the failure that caused it.
  return reason === "upstream_failed" || reason === "fail_fast" ? "upstream_failed" : "cancelled";
}

/** {@link resultOf} a job run; null while it has not ended. */
export function endOf(jobId: JobRunId, plan: RunPlan, peers: Peers): JobResult | null {
  const job = peers.state(jobId) as JobState;
  return job.endedAt === null ? null : resultOf(job, plan);
}

/** The newest attempt of the job, or of each cell that it was spread into. */
export function cellsOf(runId: RunId, index: number, peers: Pick<Peers, "state">): readonly JobState[] {
  const job = newestJob(runId, index, peers);
  if (job === undefined) return [];
  if (job.cells.length === 0) return [job];
  return job.cells.flatMap(({ attempt }, cell) => {
    const found = peers.state(jobRunId(runId, index, attempt, cell)) as JobState | undefined;
    return found === undefined ? [] : [found];
  });
}

/** The outputs of each of these jobs, in their order. */
export function outputsOfJobs(jobs: readonly JobState[], plan: RunPlan, peers: Peers): readonly JobOutputs[] {
  return allOf(jobs, (job) => outputsOf(job, plan, peers));
}

function outputsOf(job: JobState, plan: RunPlan, peers: Peers): JobOutputs {
  const { outputs } = plan.jobs[job.index]!;
  if (outputs.length === 0) return {};
  const facts = stepFacts(job, plan, peers);
  return Object.fromEntries(outputs.map(([name, text]) => [name, resolveOutput(text, facts)]));
}

/** What is missing is asked for together. */
function allOf<T, R>(items: readonly T[], read: (item: T) => R): readonly R[] {
  const missing: OutputsKey[] = [];
  const found = items.flatMap((item): readonly R[] => {
    try {
      return [read(item)];
    } catch (error) {
      if (!(error instanceof MissingOutputs)) throw error;
      missing.push(...error.keys);
      return [];
    }
  });
  if (missing.length > 0) throw new MissingOutputs(missing);
  return found;
}

function writtenBy(step: StepState | undefined, peers: Peers): Pairs<string> {
  if (step?.hasOutputs !== true || step.grant === null) return [];
  return peers.outputs({ stepRunId: step.reusedFrom ?? step.stepRunId, token: step.grant.token });
}

function wordOf(runId: RunId, index: number, peers: Peers): Result {
  const state = newestJob(runId, index, peers)?.state;
  return state === "success" || state === "failed" || state === "cancelled" ? state : "";
}

export function newestJob(runId: RunId, index: number, peers: Pick<Peers, "state">): JobState | undefined {
  return newest((attempt) => peers.state(jobRunId(runId, index, attempt)) as JobState | undefined);
}

export function newestStep(
  runId: RunId,
  jobId: JobRunId,
  index: number,
  peers: Pick<Peers, "state">,
): StepState | undefined {
  return newest((attempt) => peers.state(stepRunId(runId, jobId, index, attempt)) as StepState | undefined);
}

/** The last that is there of the attempts from the first on. */
function newest<State>(find: (attempt: number) => State | undefined): State | undefined {
  for (let found: State | undefined, attempt = 1; ; attempt++) {
    const next = find(attempt);
    if (next === undefined) return found;
    found = next;
  }
}

function worst(results: readonly Result[]): Result {
  return (["", "failed", "cancelled"] as const).find((result) => results.includes(result)) ?? "success";
}
