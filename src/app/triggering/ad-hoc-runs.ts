/**
 * Ad-hoc steps, which are in no saved definition. Each gets a run of one job, with a definition of its own that is
 * checked and planned like any other. The run of an ad-hoc step can be deleted once it has ended.
 */
import { z } from "zod";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import {
  adHocRevisionId,
  isAdHocRevision,
  jobRunId,
  newId,
  type PipelineId,
  type StepRunId,
  stepRunId,
} from "../../domain/ids.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import { authoriseLookUp, type Caller, claimedIdentity, mayEverywhere } from "../identity/access.ts";
import type { TriggeringContext } from "./context.ts";
import { planKnownRun, storeNewRun } from "./create-run.ts";
import { findDeletion, recordDeletion } from "./deleted-runs.ts";
import { reachPipelineToRun } from "../catalogue/pipeline-deletion.ts";
import { finishRemoval, isRunRemoved, removeRun } from "../runs/remove-run.ts";
import { askingFor, checkWithPlugins, pluginsForRun } from "../catalogue/plugin-lookup.ts";
import { inheritedVariables } from "../catalogue/inherited-variables.ts";
import { requireKnown } from "../catalogue/required-definition.ts";
import { reach } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import { noStepRun } from "../step-runs.ts";
import { showStepRun } from "../runs/read-step-runs.ts";
import type { StepRunView } from "../runs/step-run-view.ts";
import { sealSuccession } from "../runs/succession.ts";
import { triggerBody } from "./trigger.ts";
import { refOfTrigger } from "../git/run-source.ts";

const JOB_NAME = "ad-hoc";

export const adHocBody = z.strictObject({
  /** The step as it would stand in a definition. */
  step: z.record(z.string(), z.unknown()),
  /** The `agentSelector` of the step's job. */
  agentSelector: z.record(z.string(), z.unknown()).optional(),
  triggeredBy: triggerBody.shape.triggeredBy,
  requestId: triggerBody.shape.requestId,
});

/**
 * Answers once the run is stored; the run begins by itself. It is listed with the runs of the pipeline and reads
 * the variables of the project and its tenant; the pipeline's approvals, groups and conditions do not apply to it. Throws `not_found`,
 * `invalid_definition` with every problem, whose pointers begin with `/spec`, `request_id_reused`, and `conflict` for a
 * repeat whose step run was deleted. A repeat of a `requestId` answers the same step run, and finishes its creation
 * when the first call was cut off.
 */
export async function createStepRun(
  context: TriggeringContext,
  caller: Caller,
  input: z.output<typeof adHocBody> & { readonly pipelineId: PipelineId },
): Promise<StepRunView> {
  // The id holds the time of the call, so it is made before the first await.
  const freshRunId = newId("run");
  const { pipelineId, step, agentSelector } = input;
  const { user, pipeline } = await reachPipelineToRun(context, caller, "runAdHocSteps", pipelineId);
  const triggeredBy = claimedIdentity(user, input.triggeredBy, "triggeredBy");
  const job = { name: JOB_NAME, ...(agentSelector && { agentSelector }), steps: [step] };
  const asking = askingFor(context, user.userId);
  const text = await asking.work.draft(asking.caller, { head: null, spec: { jobs: [job] }, format: "json" });
  const checked = await checkWithPlugins(context, asking, pipeline.projectId, { text, format: "json" });
  const definition = await withStepPointers(() => requireKnown(checked));
  const { id: runId, repeated } = await claimRequest(context, {
    caller: user,
    scope: `step-run/${pipelineId}`,
    requestId: input.requestId,
    body: { text, triggeredBy },
    freshId: () => freshRunId,
  });
  if (!repeated || (await context.stores.aggregates.loadHead(runId)) === undefined) {
    if (repeated && (await isRunRemoved(context, runId))) {
      throw conflict(
        "the step run that this requestId has made was deleted: choose a new requestId for a new step run",
      );
    }
    const revisionId = adHocRevisionId(runId);
    const plugins = await pluginsForRun(context, pipeline.projectId, definition);
    const inherited = await inheritedVariables(context, pipeline.projectId);
    const planned = await withStepPointers(() =>
      planKnownRun(
        context,
        asking,
        definition,
        {
          runId,
          pipeline,
          origin: {
            trigger: { kind: "manual", ref: refOfTrigger({}, [], pipeline) },
            variables: [],
            ...(inherited.length > 0 && { inherited }),
            triggeredBy,
            actor: user.name,
            revisionId,
            commitSha: "",
            attempt: 1,
            retryOf: null,
            firstRunId: null,
          },
        },
        plugins,
      ),
    );
    // Before the run: a rerun is planned from this revision.
    await context.stores.pipelines.keepRevision({
      revisionId,
      pipelineId,
      format: "json",
      text,
      message: "",
      editor: triggeredBy,
      actor: user.name,
      createdAt: context.clock.now(),
    });
    await storeNewRun(context, user, planned);
  } else user.trail?.changedNothing();
  return showStepRun(context, caller, runId, stepRunId(runId, jobRunId(runId, 0, 1), 0, 1));
}

/**
 * Deletes the whole run that {@link createStepRun} made for a step, or a rerun of it, with logs, outputs, events and
 * plan. Throws `not_found`; `conflict` for a step run of any other run, for one that has not ended, and for one whose
 * rerun still exists; and `unavailable` while the run still owes effects of its end. A repeat finishes a deletion that
 * was cut off.
 */
export async function deleteStepRun(
  context: TriggeringContext,
  caller: Caller,
  { stepRunId: id }: { readonly stepRunId: StepRunId },
): Promise<void> {
  const { stores, log } = context;
  const looking = authoriseLookUp(caller, "runAdHocSteps");
  const located = await stores.aggregates.findStep(id);
  const aggregate = located && (await stores.aggregates.load(located.runId));
  if (aggregate === undefined) {
    // Nothing says any more which project the run was of. The worker that removes runs finishes the deletion as well.
    if (!mayEverywhere(looking, "runAdHocSteps")) throw noStepRun(id);
    return finishDeletion(context, id);
  }
  const { user } = await reach(context, caller, "runAdHocSteps", {
    find: () => Promise.resolve(aggregate.head),
    projectOf: ({ summary }) => summary.projectId,
    missing: () => noStepRun(id),
  });
  await refuseDeletion(context, id, aggregate.head);
  await recordDeletion(context, aggregate);
  await removeRun(context, aggregate);
  log.info({ runId: aggregate.head.rootId, by: user.name }, "a run of one step was deleted");
}

async function finishDeletion(context: TriggeringContext, id: StepRunId): Promise<void> {
  const runId = await findDeletion(context, id);
  if (runId === undefined) throw noStepRun(id);
  const begun = await context.stores.removals.find(runId);
  if (begun?.removal != null) await finishRemoval(context, begun.removal);
}

async function refuseDeletion(context: TriggeringContext, id: StepRunId, head: AggregateHead): Promise<void> {
  const { rootId, summary, origin } = head;
  if (!isAdHocRevision(origin.revisionId)) {
    throw conflict(`step run ${id} is part of run ${rootId}: only an ad-hoc step run can be deleted`);
  }
  if (!head.final) {
    throw conflict(`step run ${id} has not ended, its run is ${summary.status}: wait for its end, or cancel it`);
  }
  if (!head.settled) {
    throw new MillraceError(
      "unavailable",
      `step run ${id} has just ended, and its end is still being published: try again`,
    );
  }
  const successor = await sealSuccession(context, head);
  if (successor !== null) {
    throw conflict(`step run ${id} was run again as run ${successor}, which needs it: delete that one first`);
  }
}

/** Calls `make`, and turns the pointers of its errors from the definition around the step into the caller's request. */
async function withStepPointers<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    const problems = error.problems.map(({ code, pointer, message }): Problem => {
      const inRequest = pointer.replace(/^\/jobs\/0(?:\/steps\/0)?/, "/spec");
      return { code, pointer: inRequest, message };
    });
    throw new MillraceError(error.reason, error.message, { problems, problemCount: error.problemCount });
  }
}

function conflict(text: string): MillraceError {
  return new MillraceError("conflict", text);
}
