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
    const step = peers(stepRunId(runId, jobId, index, 1)) as StepState | undefined;
    return { result: step === undefined ? "" : stepStatus(step.state) };
  };
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
  for (let newest: JobState | undefined, attempt = 1; ; attempt++) {
    const job = peers(jobRunId(runId, index, attempt)) as JobState | undefined;
    if (job === undefined) return newest;
    newest = job;
  }
}

function worst(results: readonly Result[]): Result {
  return (["", "failed", "cancelled"] as const).find((result) => results.includes(result)) ?? "success";
}
