/** What conditions read of jobs and steps that have ended. Final states never change, so it does not matter when they are read. Pure. */
import { jobRunId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { type StepState, stepStatus } from "../step/state.ts";
import type { JobState } from "./state.ts";

/** States of the actors of the run by id. */
export type Peers = (id: string) => unknown;

type Result = "success" | "failed" | "cancelled" | "";

/** `jobs.<name>`: of a matrix, the worst result of its cells; empty while one has not ended. */
export function jobFacts(runId: RunId, plan: RunPlan, peers: Peers): Facts {
  return (context, name) => {
    if (context !== "jobs") return null;
    const cells = plan.jobs.filter(({ baseName }) => baseName === name);
    return { result: worst(cells.map(({ index }) => resultOf(runId, index, peers))) };
  };
}

/** `steps.<id>` of the job's steps besides. */
export function stepFacts(job: JobState, plan: RunPlan, peers: Peers): Facts {
  const { runId, jobId, index: jobIndex } = job;
  const ofJobs = jobFacts(runId, plan, peers);
  return (context, name) => {
    if (context !== "steps") return ofJobs(context, name);
    const index = plan.jobs[jobIndex]!.steps.findIndex(({ id }) => id === name);
    const step = newest((attempt) => peers(stepRunId(runId, jobId, index, attempt)) as StepState | undefined);
    return { result: step === undefined ? "" : stepStatus(step.state) };
  };
}

/** The newest attempts of the other cells of the job's matrix, in the order of the plan. */
export function otherCells(runId: RunId, index: number, plan: RunPlan, peers: Peers): readonly JobState[] {
  const { baseName } = plan.jobs[index]!;
  const cells = plan.jobs.filter((other) => other.baseName === baseName && other.index !== index);
  return cells.flatMap((cell) => newestAttempt(runId, cell.index, peers) ?? []);
}

/** True for a job that a user has cancelled. */
export function wasCancelled(runId: RunId, index: number, peers: Peers): boolean {
  const job = newestAttempt(runId, index, peers);
  return job?.state === "cancelled" && job.reason === "cancelled";
}

function resultOf(runId: RunId, index: number, peers: Peers): Result {
  const state = newestAttempt(runId, index, peers)?.state;
  return state === "success" || state === "failed" || state === "cancelled" ? state : "";
}

function newestAttempt(runId: RunId, index: number, peers: Peers): JobState | undefined {
  return newest((attempt) => peers(jobRunId(runId, index, attempt)) as JobState | undefined);
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
