/** The manual trigger: plans a run of the head definition of a pipeline and stores it. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type PipelineId, type RevisionId, type RunId } from "../../domain/ids.ts";
import { RUN_STATUS_CODES } from "../../domain/status.ts";
import { type Caller, claimedIdentity } from "../identity/access.ts";
import type { TriggeringContext } from "./context.ts";
import { planKnownRun, storeNewRun } from "./create-run.ts";
import { reachPipelineToRun } from "../catalogue/pipeline-deletion.ts";
import { noPipeline } from "../lookups.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { askingFor, pluginsForRun } from "../catalogue/plugin-lookup.ts";
import { claimRequest, peekRequest } from "../request-ids.ts";
import { isRunRemoved } from "../runs/remove-run.ts";
import { id, shape, wholeNumber } from "../shapes.ts";
import { findGivenUploads, keepGivenUploads, uploadsField } from "./given-uploads.ts";
import { reserveGroupPlace } from "./group-place.ts";
import { inheritedVariables } from "../catalogue/inherited-variables.ts";
import { findRunSource, refOfTrigger, requireTrustedSource, type RunSource, sourceFields } from "../git/run-source.ts";
import { isInGit } from "../git/repository.ts";
import { isDefaultBranch } from "./default-branch.ts";
import { limitTriggerInput } from "./trigger-input.ts";

const FIRST_ATTEMPT = 1;

export const triggerBody = z.strictObject({
  variables: z.record(z.string(), z.string({ error: "must be a string" })).default({}),
  triggeredBy: z.string().max(200).optional(),
  requestId: z.string().max(200).optional(),
  uploads: uploadsField.optional(),
  ...sourceFields,
});

export const triggeredFields = () => ({
  runId: id<RunId>(),
  pipelineId: id<PipelineId>(),
  status: z.literal("pending"),
  statusCode: wholeNumber,
});

export const TriggeredRunShape = shape("TriggeredRun", triggeredFields);

type TriggerView = z.infer<typeof TriggeredRunShape>;

/**
 * Answers once the run is stored; the run begins by itself. Of a definition in Git, the run takes that of the commit, branch
 * or ref that the trigger names, else of the default branch. Throws `not_found`, `conflict` for a pipeline without a
 * definition and for a run that its group refuses, `malformed_request` for variables that do not fit the inputs and for
 * uploads that are not complete, `invalid_definition`, `too_large`, `request_id_reused`, `git_refused`, `unavailable`. A repeat of a `requestId` answers the same
 * run, and finishes its creation when the first call was cut off.
 */
export async function triggerRun(
  context: TriggeringContext,
  caller: Caller,
  input: z.output<typeof triggerBody> & { readonly pipelineId: PipelineId },
): Promise<TriggerView> {
  // The id holds the time of the trigger, so it is made before the first await.
  const freshRunId = newId("run");
  const { user, pipeline } = await reachPipelineToRun(context, caller, "triggerRun", input.pipelineId);
  const triggeredBy = claimedIdentity(user, input.triggeredBy, "triggeredBy");
  limitTriggerInput("variables", input.variables);
  const variables = Object.entries(input.variables);
  const request = {
    caller: user,
    scope: `trigger/${input.pipelineId}`,
    requestId: input.requestId,
    body: input,
  };
  // A repeat needs no look into a repository.
  const earlier = isInGit(pipeline) ? await peekRequest(context, request) : undefined;
  const source = earlier === undefined ? await findRunSource(context, pipeline, input, variables) : undefined;
  if (source !== undefined) await requireTrustedSource(context, user, pipeline, input, source);
  // The claim holds the revision, too: a repeat that finishes a creation plans the same revision as the first call.
  const { id: claim, repeated } = await claimRequest(context, {
    ...request,
    freshId: () => (source === undefined ? earlier! : claimOf(freshRunId, source)),
  });
  const [runId, revisionId, commitSha = revisionId] = claim.split("/") as [RunId, RevisionId, string?];
  const isRepeat = repeated || earlier !== undefined;
  if (!isRepeat || (await context.stores.aggregates.loadHead(runId)) === undefined) {
    if (isRepeat && (await isRunRemoved(context, runId))) {
      throw new MillraceError(
        "conflict",
        `run ${runId}, which this requestId has made, was removed: choose a new requestId for a new run`,
      );
    }
    const asking = askingFor(context, user.userId);
    const definition = await definitionOfRevision(context.stores.pipelines, asking, revisionId);
    if (definition === undefined) throw noPipeline(input.pipelineId);
    const { projectId } = pipeline;
    const uploads = await findGivenUploads(context, projectId, input.uploads);
    const inherited = await inheritedVariables(context, projectId);
    const origin = {
      trigger: { kind: "manual", ref: refOfTrigger(input, variables, pipeline) },
      variables,
      triggeredBy,
      actor: user.name,
      revisionId,
      commitSha,
      attempt: FIRST_ATTEMPT,
      retryOf: null,
      firstRunId: null,
      ...(inherited.length > 0 && { inherited }),
      ...(uploads.length > 0 && { uploads }),
    } as const;
    // A commit that is named by its id need not be on the branch that is named with it.
    const isOfDefaultBranch = input.commit === undefined && isDefaultBranch(pipeline, origin.trigger.ref);
    const plugins = await pluginsForRun(context, projectId, definition);
    const planned = await planKnownRun(
      context,
      asking,
      definition,
      { runId, origin, pipeline, isOfDefaultBranch },
      plugins,
    );
    await reserveGroupPlace(context, planned);
    const gone = await keepGivenUploads(context, { runId, projectId, uploads });
    // The uploads that were deleted while the run was planned.
    if (gone.length > 0) await findGivenUploads(context, projectId, input.uploads);
    await storeNewRun(context, user, planned);
  } else user.trail?.changedNothing();
  return { runId, pipelineId: input.pipelineId, status: "pending", statusCode: RUN_STATUS_CODES.pending };
}

/** Without a commit of its own for an inline definition. */
function claimOf(runId: RunId, { revisionId, commitSha }: RunSource): string {
  return commitSha === revisionId ? `${runId}/${revisionId}` : `${runId}/${revisionId}/${commitSha}`;
}
