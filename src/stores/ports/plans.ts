/**
 * The port of plans: documents that never change, written before the snapshot of their run, under keys derived from the
 * run's id.
 */
import type { RunId } from "../../domain/ids.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";

export interface PlanStore {
  /**
   * Stores the plan and one document for each job (`jobs[i]` belongs to `plan.jobs[i]`). A repeat changes nothing.
   * Rejects with `too_large` when a document does not fit into the store (MongoDB: 16 MiB). `packs` is true when every living node
   * reads packed plans.
   */
  put(runId: RunId, plan: RunPlan, jobs: readonly JobSpec[], packs?: boolean): Promise<void>;
  /** Undefined when the run has no stored plan. */
  loadPlan(runId: RunId): Promise<RunPlan | undefined>;
  /** What {@link loadPlan} answers. `pause` is awaited after each piece, so that a large plan does not hold the event loop. */
  loadPlanInPieces(runId: RunId, pause: () => Promise<void>): Promise<RunPlan | undefined>;
  /** The plans of these runs, by run; a run without a stored plan has no entry. */
  loadPlans(runIds: readonly RunId[]): Promise<ReadonlyMap<RunId, RunPlan>>;
  /** Undefined when the run has no stored job of this index. */
  loadJob(runId: RunId, jobIndex: number): Promise<JobSpec | undefined>;
}
