/** The store of plans as everybody but its adapters sees it; see versioned-aggregates.ts. */
import type { PlanStore } from "./plans.ts";
import { fromStored, type StoredFormat, toStored } from "./stored-format.ts";

/** Reads reject with a `NewerSchemaError` for what a newer version has stored. */
export function versionedPlans(store: PlanStore, format: StoredFormat, writes: () => number): PlanStore {
  return {
    put(runId, plan, jobs) {
      const schema = writes();
      const specs = jobs.map((job) => toStored(format, "spec", job, schema));
      return store.put(runId, toStored(format, "plan", plan, schema), specs);
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
