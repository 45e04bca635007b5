/**
 * The results and outputs of ended jobs and steps, as expressions read them. Final states never change, so the time of
 * reading does not matter. Pure.
 */
import { type JobRunId, jobRunId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import { firstAttemptId, jobsNamed } from "../../src/planner/plan-index.ts";
import { MissingOutputs, type OutputsKey } from "../../src/domain/outputs.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Json } from "../../src/expressions/context-data.ts";
import type { JobResult } from "../run/messages.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { resolveOutput } from "../../src/planner/deferred-texts.ts";
import { type StepState, stepStatus } from "../step/state.ts";
import type { JobState } from "./state.ts";

/** The outputs of a job by name; null where the expression of an output could not be evaluated. */
export type JobOutputs = Readonly<Record<string, Json>>;

/** `result` in expressions; empty while the job or step has not ended. */
type Result = "success" | "failed" | "cancelled" | "";

/** What the facts of ended jobs and steps are read from. */
export type Endings = Pick<Peers, "state" | "outputs" | "work">;

/**
 * Facts of jobs that have ended, by the actors that they were read from: in one turn a thousand cells may read the same
 * thousand cells.
 */
const knownFacts = new WeakMap<Endings, Map<string, Json>>();

/**
 * `jobs.<name>`. For a matrix, each output is a list with one value for each cell, and the result is the worst result
 * of the cells, empty while a cell has not ended.
 */
export function jobFacts(runId: RunId, plan: RunPlan, peers: Endings): Facts {
  const read = (context: string, name: string, part: "all" | "result"): Json => {
    if (context !== "jobs") return null;
    let known = knownFacts.get(peers);
    if (known === undefined) knownFacts.set(peers, (known = new Map<string, Json>()));
    const key = `${part} ${name}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const result = worst(jobsNamed(name, plan).map((index) => newestResult(runId, index, plan, peers)));
    const facts = part === "result" ? { result } : { result, outputs: outputsNamed(runId, name, plan, peers) };
    // Before its end, a job may still change within the turn.
    if (result !== "") known.set(key, facts);
    return facts;
  };
  return Object.assign(read, { budget: peers.work, owner: runId });
}

function outputsNamed(runId: RunId, name: string, plan: RunPlan, peers: Endings): Json {
  const planned = jobsNamed(name, plan).map((index) => plan.jobs[index]!);
  const isMatrix = planned.some(({ matrix, cells }) => matrix.length > 0 || cells !== null);
  const runs = planned.flatMap(({ index }) => newestCells(runId, index, plan, peers));
  const outputs = outputsOfJobs(runs, plan, peers);
  const names = planned[0]?.outputs.map(([output]) => output) ?? [];
  const valueOf = (output: string): Json => {
    const values = outputs.map((ofCell) => ofCell[output] ?? null);
    return isMatrix ? values : (values[0] ?? null);
  };
  return Object.fromEntries(names.map((output) => [output, valueOf(output)]));
}

/**
 * What {@link jobFacts} reads, and in addition `steps.<id>` of the job's steps and the `matrix` of a cell that was made
 * when the job began.
 */
export function stepFacts(
  job: Pick<JobState, "runId" | "jobId" | "index" | "matrix">,
  plan: RunPlan,
  peers: Endings,
): Facts {
  const { runId, jobId, index: jobIndex } = job;
  const ofJobs = jobFacts(runId, plan, peers);
  const read = (context: string, name: string, part: "all" | "result"): Json => {
    if (context === "matrix") return Object.fromEntries(job.matrix);
    if (context !== "steps") return ofJobs(context, name, part);
    const index = plan.jobs[jobIndex]!.steps.findIndex(({ id }) => id === name);
    const step = newestStep(runId, jobId, index, peers);
    const result = step === undefined ? "" : stepStatus(step.state);
    return part === "result" ? { result } : { result, outputs: Object.fromEntries(writtenBy(step, peers)) };
  };
  return Object.assign(read, { budget: peers.work, owner: jobId });
}

/**
 * Whether a user has cancelled the jobs that have ended, by position and by the actors that this was read from: in one
 * turn hundreds of jobs may ask about the same hundreds of needs.
 */
const knownCancelled = new WeakMap<Peers, boolean[]>();

/** True when the newest attempt of the job was cancelled by a user. */
export function wasCancelled(runId: RunId, index: number, plan: RunPlan, peers: Peers): boolean {
  let known = knownCancelled.get(peers);
  if (known === undefined) knownCancelled.set(peers, (known = []));
  const found = known[index];
  if (found !== undefined) return found;
  const job = newestJob(runId, index, plan, peers);
  const cancelled = job?.state === "cancelled" && job.reason === "cancelled";
  // Before its end, a job may still change within the turn.
  if (job !== undefined && job.endedAt !== null) known[index] = cancelled;
  return cancelled;
}

/**
 * The id of the newest attempt of a job, or (`cell` not null) of a cell that the job was spread into; undefined when
 * there is none.
 */
export function newestAttempt(
  runId: RunId,
  index: number,
  cell: number | null,
  plan: RunPlan,
  peers: Peers,
): JobRunId | undefined {
  const job = newestJob(runId, index, plan, peers);
  if (job === undefined || cell === null) return job?.jobId;
  const attempt = job.cells[cell]?.attempt;
  return attempt === undefined ? undefined : jobRunId(runId, index, attempt, cell);
}

/** How the end of a job counts for its run and for the jobs that need it. */
export function resultOf(
  { state, reason, index }: Pick<JobState, "state" | "reason" | "index">,
  plan: RunPlan,
): JobResult {
  if (state === "success") return "success";
  if (state === "failed") return plan.jobs[index]!.continueOnError ? "tolerated" : "failed";
  // The failure that caused this end is counted already, so this end is not counted as another one.
  return reason === "upstream_failed" || reason === "fail_fast" ? "upstream_failed" : "cancelled";
}

/** {@link resultOf} a job run; null while the job run has not ended. */
export function endOf(jobId: JobRunId, plan: RunPlan, peers: Peers): JobResult | null {
  const job = peers.state(jobId) as JobState;
  return job.endedAt === null ? null : resultOf(job, plan);
}

/** The newest attempt of the job; when the job was spread, the newest attempt of each of its cells. */
export function newestCells(
  runId: RunId,
  index: number,
  plan: RunPlan,
  peers: Pick<Peers, "state">,
): readonly JobState[] {
  const job = newestJob(runId, index, plan, peers);
  if (job === undefined) return [];
  if (job.cells.length === 0) return [job];
  return job.cells.flatMap(({ attempt }, cell) => {
    const found = peers.state(jobRunId(runId, index, attempt, cell)) as JobState | undefined;
    return found === undefined ? [] : [found];
  });
}

/**
 * The outputs of each of these jobs, in their order. Throws `MissingOutputs`, which names all outputs that were not
 * fetched yet.
 */
export function outputsOfJobs(jobs: readonly JobState[], plan: RunPlan, peers: Endings): readonly JobOutputs[] {
  return allOf(jobs, (job) => outputsOf(job, plan, peers));
}

function outputsOf(job: JobState, plan: RunPlan, peers: Endings): JobOutputs {
  const { outputs } = plan.jobs[job.index]!;
  if (outputs.length === 0) return {};
  const facts = stepFacts(job, plan, peers);
  return Object.fromEntries(outputs.map(([name, text]) => [name, resolveOutput(text, facts)]));
}

/** Reads all items, and throws one `MissingOutputs` for all of them, so that the kernel fetches everything at once. */
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

function writtenBy(step: StepState | undefined, peers: Endings): Pairs<string> {
  if (step?.hasOutputs !== true || step.grant === null) return [];
  return peers.outputs({ stepRunId: step.reusedFrom ?? step.stepRunId, token: step.grant.token });
}

function newestResult(runId: RunId, index: number, plan: RunPlan, peers: Endings): Result {
  const state = newestJob(runId, index, plan, peers)?.state;
  return state === "success" || state === "failed" || state === "cancelled" ? state : "";
}

/** The newest attempt of the job at `index`; undefined when the run has no such job. */
export function newestJob(
  runId: RunId,
  index: number,
  plan: RunPlan,
  peers: Pick<Peers, "state">,
): JobState | undefined {
  return newest((attempt) => {
    const id = attempt === 1 ? firstAttemptId(runId, index, plan) : jobRunId(runId, index, attempt);
    return peers.state(id) as JobState | undefined;
  });
}

/** The newest attempt of the step at `index` of a job run; undefined when the job run has no such step. */
export function newestStep(
  runId: RunId,
  jobId: JobRunId,
  index: number,
  peers: Pick<Peers, "state">,
): StepState | undefined {
  return newest((attempt) => peers.state(stepRunId(runId, jobId, index, attempt)) as StepState | undefined);
}

/**
 * The newest attempt: attempts are numbered from 1 without gaps, and another one follows only an attempt that has failed
 * or timed out.
 */
function newest<State extends { readonly state: string }>(
  find: (attempt: number) => State | undefined,
): State | undefined {
  for (let found: State | undefined, attempt = 1; ; attempt++) {
    const next = find(attempt);
    if (next === undefined) return found;
    if (next.state !== "failed" && next.state !== "timeout") return next;
    found = next;
  }
}

function worst(results: readonly Result[]): Result {
  return (["", "failed", "cancelled"] as const).find((result) => results.includes(result)) ?? "success";
}
