/** Reads and lists step runs. */
import { z } from "zod";
import { stepStatus } from "../../../actors/step/state.ts";
import type { JobRunId, RunId, StepRunId } from "../../domain/ids.ts";
import { STEP_STATUS_CODES, type StepStatus } from "../../domain/status.ts";
import type { Caller } from "../identity/access.ts";
import type { RunsContext } from "./context.ts";
import { listFields, type ListView, listView } from "../lists.ts";
import { authoriseOnRun, reachStep } from "../reaching.ts";
import { noStepRun } from "../step-runs.ts";
import { type LoadContext, type LoadedRun, readLoaded } from "./loaded-run.ts";
import { type StepRunView, viewStepRun, viewStepRuns } from "./step-run-view.ts";

const { page, pageSize } = listFields;

export const listStepRunsQuery = z.strictObject({
  page,
  pageSize,
  status: z.enum(Object.keys(STEP_STATUS_CODES) as StepStatus[]).optional(),
});

/** One step run of any attempt. Throws `not_found`. */
export async function getStepRun(
  context: RunsContext,
  caller: Caller,
  { stepRunId }: { readonly stepRunId: StepRunId },
): Promise<StepRunView> {
  const { found } = await reachStep(context, caller, "readRuns", stepRunId, () => noStepRun(stepRunId));
  return showStepRun(context, caller, found.runId, stepRunId);
}

/** One step run of a run that the caller may read. Throws `not_found`. */
export function showStepRun(
  context: LoadContext,
  caller: Caller,
  runId: RunId,
  stepRunId: StepRunId,
): Promise<StepRunView> {
  const render = (loaded: LoadedRun) => viewStepRun(context, loaded, stepRunId);
  return readLoaded(context, caller, runId, { view: stepRunId, isSmall: true, render });
}

/**
 * The step runs of a run in the order of the plan, earlier attempts before later ones. Throws `not_found` for an
 * unknown run.
 */
export async function listStepRuns(
  context: RunsContext,
  caller: Caller,
  input: z.output<typeof listStepRunsQuery> & {
    readonly runId: RunId;
    readonly jobId?: JobRunId;
    readonly allAttempts: boolean;
  },
): Promise<ListView<StepRunView>> {
  const { runId, jobId, status, allAttempts } = input;
  await authoriseOnRun(context, caller, "readRuns", runId);
  const { page: at, pageSize: size } = input;
  return readLoaded(context, caller, runId, {
    view: ["steps", jobId, status, allAttempts, at, size].join(" "),
    isSmall: true,
    async render(loaded) {
      let total = 0;
      const list = await viewStepRuns(context, loaded, allAttempts, (steps) => {
        const matching = steps
          .filter(({ job }) => jobId === undefined || job.jobId === jobId)
          .filter(({ step }) => status === undefined || stepStatus(step.state) === status);
        total = matching.length;
        return matching.slice((at - 1) * size, at * size);
      });
      return listView({ list, total }, { ...input, sort: "" }, (view) => view);
    },
  });
}
