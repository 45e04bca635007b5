/** Plans: immutable documents, written before the snapshot that names them, under ids that can be derived again. */
import type { RunId } from "../../domain/ids.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";

export interface PlanStore {
  /** Stores the graph and the job documents (`jobs[i]` belongs to `plan.jobs[i]`); a repeat changes nothing. */
  put(runId: RunId, plan: RunPlan, jobs: readonly JobSpec[]): Promise<void>;
  loadPlan(runId: RunId): Promise<RunPlan | undefined>;
  loadJob(runId: RunId, jobIndex: number): Promise<JobSpec | undefined>;
}
