/** The outputs of the jobs of a run, which later jobs and users read. */
import { z } from "zod";
import { outputsOfJobs } from "../../../actors/job/facts.ts";
import { jobName, type JobState, jobStatus } from "../../../actors/job/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { JobRunId, RunId } from "../../domain/ids.ts";
import { JOB_STATUS_CODES } from "../../domain/status.ts";
import { MAX_TURN_WORK, WorkBudget, WorkUsedUp } from "../../domain/work/work-budget.ts";
import { withStepOutputs } from "../../stores/ports/reading-outputs.ts";
import type { Caller } from "../identity/access.ts";
import type { RunsContext } from "./context.ts";
import { noRun } from "../lookups.ts";
import { fields, id, keyOf, listOf, mapOf, shape } from "../shapes.ts";
import { authoriseOnRun } from "../reaching.ts";

const MAX_CHARS = 4_194_304;

export const RunOutputsShape = shape("RunOutputs", () => ({
  runId: id<RunId>(),
  /**
   * Ended jobs that declare outputs, in the order of the plan: the newest attempt of each job and of each matrix cell.
   */
  jobs: listOf(
    fields(() => ({
      jobId: id<JobRunId>(),
      name: z.string(),
      status: keyOf(JOB_STATUS_CODES),
      /** By name; null for an output that no step has written. */
      outputs: mapOf(z.unknown()),
    })),
  ),
}));

export type RunOutputs = z.infer<typeof RunOutputsShape>;

/** Throws `not_found`, and `too_large` for more than 4 MB. */
export async function readRunOutputs(
  context: RunsContext,
  caller: Caller,
  { runId }: { readonly runId: RunId },
): Promise<RunOutputs> {
  await authoriseOnRun(context, caller, "readRuns", runId);
  const { aggregates, plans, outputs } = context.stores;
  const [aggregate, plan] = await Promise.all([aggregates.load(runId), plans.loadPlan(runId)]);
  if (aggregate === undefined || plan === undefined) throw noRun(runId, undefined);
  const states = new Map(aggregate.actors.map(({ id, state }) => [id, state]));
  const all = aggregate.actors.flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : []));
  const retried = new Set(all.map(({ retryOf }) => retryOf));
  const ended = all
    .filter((job) => job.endedAt !== null && job.cells.length === 0 && !retried.has(job.jobId))
    .filter(({ index }) => plan.jobs[index]!.outputs.length > 0)
    .sort((a, b) => a.index - b.index || (a.cell ?? 0) - (b.cell ?? 0));
  const made = await withStepOutputs(outputs, (reader) =>
    outputsWithin(runId, () => {
      const work = new WorkBudget(MAX_TURN_WORK);
      return outputsOfJobs(ended, plan, { state: (id) => states.get(id), outputs: reader, work });
    }),
  );
  const jobs = ended.map((job, at) => ({
    jobId: job.jobId,
    name: jobName(plan.jobs[job.index]!, job),
    status: jobStatus(job.state),
    outputs: made[at]!,
  }));
  if (JSON.stringify(jobs).length > MAX_CHARS) {
    throw new MillraceError(
      "too_large",
      `the outputs of run ${runId} have more than 4 MB: read them in a job of their own`,
    );
  }
  return { runId, jobs };
}

function outputsWithin<T>(runId: RunId, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WorkUsedUp)) throw error;
    const message = `the outputs of run ${runId} cannot be made: ${error.message} (read them in a job of their own)`;
    throw new MillraceError("too_large", message, { cause: error });
  }
}
