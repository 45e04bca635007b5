/** Lets the gateway evaluate texts of a granted step with what has ended before it in its run. */
import { stepFacts } from "../../actors/job/facts.ts";
import type { JobState } from "../../actors/job/state.ts";
import { MillraceError } from "../domain/errors.ts";
import type { JobRunId, RunId } from "../domain/ids.ts";
import type { RunPlan } from "../domain/plan.ts";
import { MAX_DISPATCH_WORK, WorkBudget } from "../domain/work/work-budget.ts";
import { withActors } from "../stores/ports/reading-actors.ts";
import { withStepOutputs } from "../stores/ports/reading-outputs.ts";
import type { Stores } from "../stores/ports/stores.ts";

/**
 * Answers what `evaluate` returns, and the job. `evaluate` is called again until it asks for nothing that is not read yet; each
 * call has the whole budget. A run may have thousands of actors: only those are read that the texts name.
 */
export async function withStepFacts<T>(
  { aggregates, outputs }: Pick<Stores, "aggregates" | "outputs">,
  { runId, jobId }: { readonly runId: RunId; readonly jobId: JobRunId },
  plan: RunPlan,
  evaluate: (facts: ReturnType<typeof stepFacts>) => T,
): Promise<{ readonly value: T; readonly job: JobState }> {
  return withActors(aggregates, runId, async (state) => {
    const job = state(jobId) as JobState | undefined;
    if (job === undefined) throw new MillraceError("internal", `the job ${jobId} of run ${runId} is not in the store`);
    const value = await withStepOutputs(outputs, (reader) => {
      const work = new WorkBudget(MAX_DISPATCH_WORK);
      return evaluate(stepFacts(job, plan, { state, outputs: reader, work }));
    });
    return { value, job };
  });
}
