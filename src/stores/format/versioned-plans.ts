/** The store of plans as everybody but its adapters sees it; see versioned-aggregates.ts. */
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import type { PlanStore } from "../ports/plans.ts";
import { fromStored, type StoredFormat, toStored } from "./stored-format.ts";

/** Reads reject with a `NewerSchemaError` for what a newer version has stored. */
export function versionedPlans(store: PlanStore, format: StoredFormat, writes: () => number): PlanStore {
  return {
    put(runId, plan, jobs) {
      const written = writtenPlan(plan, jobs, format, writes());
      return store.put(runId, written.graph, written.jobs);
    },
    async loadPlan(runId) {
      const plan = await store.loadPlan(runId);
      return plan && fromStored(format, "plan", plan, `the plan of the run ${runId}`);
    },
    async loadJob(runId, jobIndex) {
      const job = await store.loadJob(runId, jobIndex);
      return job && fromStored(format, "spec", job, `job ${jobIndex} of the plan of the run ${runId}`);
    },
  };
}

/** A plan and its jobs as they are stored. */
export function writtenPlan(
  plan: RunPlan,
  jobs: readonly JobSpec[],
  format: StoredFormat,
  schema: number,
): { readonly graph: RunPlan; readonly jobs: readonly JobSpec[] } {
  return {
    graph: toStored(format, "plan", plan, schema),
    jobs: jobs.map((job) => toStored(format, "spec", job, schema)),
  };
}
