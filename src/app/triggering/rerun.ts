/** The rerun of a run that has ended: a new run that reuses the results of the steps that it does not run again. */
import { z } from "zod";
import { chooseRerun, type EndedRun, type RerunRefusal } from "../../../actors/run/rerun.ts";
import { beginAgain, type Beginning } from "../../../actors/run/reuse.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, newId, type PipelineId, type RevisionId, type RunId, type StepRunId } from "../../domain/ids.ts";
import { isUploadStep } from "../../domain/plugins.ts";
import { RUN_STATUS_CODES } from "../../domain/status.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import { type Caller, claimedIdentity, type UserCaller } from "../identity/access.ts";
import type { TriggeringContext } from "./context.ts";
import { type PlannedRun, planKnownRun, storeNewRun } from "./create-run.ts";
import { findPipelineToRun } from "../catalogue/pipeline-deletion.ts";
import { noPlan, noRun } from "../lookups.ts";
import { approvalAgain } from "./fork-approval.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { askingFor, type Asking, pluginsForRerun } from "../catalogue/plugin-lookup.ts";
import { reachRun } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import { isRunRemoved } from "../runs/remove-run.ts";
import { goneUploads, keepGivenUploads } from "./given-uploads.ts";
import { reserveGroupPlace } from "./group-place.ts";
import { noStepRun } from "../step-runs.ts";
import { claimSuccessor, findSuccessor, isSealed, type Successor } from "../runs/succession.ts";
import { id, shape, wholeNumber } from "../shapes.ts";
import { toldEventOf } from "./told-event.ts";
import { triggerBody, triggeredFields } from "./trigger.ts";

export const rerunBody = z
  .strictObject({
    scope: z.enum(["all", "failed", "step"]),
    /** The step run to begin with; it may be any attempt. */
    stepRunId: z.string().max(200).optional(),
    triggeredBy: triggerBody.shape.triggeredBy,
    requestId: triggerBody.shape.requestId,
  })
  .refine(({ scope, stepRunId }) => (scope === "step") === (stepRunId !== undefined), {
    path: ["stepRunId"],
    error: "goes with the scope `step`, which needs it, and with no other",
    when: ({ value }) => typeof value === "object" && value !== null,
  });

export const RerunShape = shape("Rerun", () => ({ ...triggeredFields(), attempt: wholeNumber, retryOf: id<RunId>() }));

type RerunView = z.infer<typeof RerunShape>;

/**
 * Answers once the new run is stored; the new run begins by itself. Throws `not_found`; `conflict` for a run that has
 * not ended or was run again already, when nothing can be run again in the given scope, when an upload that it fetches was
 * deleted, and when the group of the pipeline refuses the run; `request_id_reused`. A repeat of a `requestId` answers the same run. Any call on the same
 * run finishes a creation that was cut off.
 */
export async function rerunRun(
  context: TriggeringContext,
  caller: Caller,
  input: z.output<typeof rerunBody> & { readonly runId: RunId; readonly pipelineId?: PipelineId },
): Promise<RerunView> {
  // The id holds the time of the call, so it is made before the first await.
  const freshRunId = newId("run");
  const { user, found: head } = await reachRun(context, caller, "triggerRun", input.runId, input.pipelineId);
  const triggeredBy = claimedIdentity(user, input.triggeredBy, "triggeredBy");
  if (!head.final) throw notEnded(head);
  const { id: runId } = await claimRequest(context, {
    caller: user,
    scope: `rerun/${input.runId}`,
    requestId: input.requestId,
    body: { scope: input.scope, stepRunId: input.stepRunId, triggeredBy: input.triggeredBy },
    freshId: () => freshRunId,
  });
  const asking = askingFor(context, user.userId);
  const { scope, stepRunId = "" } = input;
  const candidate: Successor = { runId, scope, stepRunId, triggeredBy, actor: user.name };
  let successor = await findSuccessor(context, head);
  let prepared: PreparedRun | undefined;
  if (successor === undefined) {
    // Before the claim: a rerun that cannot be planned must not take the succession.
    prepared = await prepare(context, asking, head, candidate);
    await refuseGoneUploads(context, prepared);
    await reserveGroupPlace(context, prepared.planned);
    successor = await claimSuccessor(context, head, candidate);
  }
  const isOwn = successor.runId === runId;
  await finishCreation(context, { user, asking }, head, successor, isOwn ? prepared : undefined);
  if (!isOwn) {
    throw conflict(`run ${head.rootId} was run again already, as ${successor.runId}: run that one again`);
  }
  return {
    runId,
    pipelineId: head.summary.pipelineId,
    status: "pending",
    statusCode: RUN_STATUS_CODES.pending,
    attempt: head.origin.attempt + 1,
    retryOf: head.rootId,
  };
}

interface PreparedRun {
  readonly planned: PlannedRun;
  /** Positions of the jobs that run again. */
  readonly again: ReadonlySet<number>;
  readonly beginning: Beginning;
}

/** Stores the run of a claimed successor unless it is stored already. `prepared`: its plan, when this call made it. */
async function finishCreation(
  context: TriggeringContext,
  { user, asking }: { readonly user: UserCaller; readonly asking: Asking },
  head: AggregateHead,
  successor: Successor,
  prepared: PreparedRun | undefined,
): Promise<void> {
  if (isSealed(successor, head)) throw noRun(head.rootId, undefined);
  if (prepared === undefined && (await context.stores.aggregates.loadHead(successor.runId)) !== undefined) {
    user.trail?.changedNothing();
    return;
  }
  if (prepared === undefined && (await isRunRemoved(context, successor.runId))) {
    throw conflict(`run ${head.rootId} was run again already, as ${successor.runId}, which was deleted since`);
  }
  const { planned, beginning } = prepared ?? (await prepare(context, asking, head, successor));
  // An upload that was deleted meanwhile fails only the steps that fetch it.
  await keepGivenUploads(context, { runId: successor.runId, ...planned.pipeline, uploads: planned.origin.uploads });
  await storeNewRun(context, user, planned, beginning);
}

/** Plans the run of a successor. Deterministic: any later call for the same successor makes the same plan. */
async function prepare(
  context: TriggeringContext,
  asking: Asking,
  head: AggregateHead,
  successor: Successor,
): Promise<PreparedRun> {
  const { rootId, summary, origin } = head;
  const { runId, scope, triggeredBy, actor } = successor;
  const pipeline = await findPipelineToRun(context, summary.pipelineId);
  const definition = await definitionOfRevision(context.stores.pipelines, asking, asId<RevisionId>(origin.revisionId));
  if (definition === undefined) {
    throw conflict(`revision ${origin.revisionId}, which run ${rootId} ran, is gone: trigger a new run`);
  }
  const ended = await readEndedRun(context, rootId);
  const told = await toldEventOf(context, origin);
  const plugins = await pluginsForRerun(context, pipeline.projectId, definition, ended);
  const planned = await planKnownRun(
    context,
    asking,
    definition,
    {
      runId,
      pipeline,
      ...(told && { told }),
      approval: approvalAgain(ended),
      isOfDefaultBranch: ended.plan.ofDefaultBranch,
      origin: {
        ...origin,
        triggeredBy,
        actor,
        attempt: origin.attempt + 1,
        retryOf: rootId,
        firstRunId: origin.firstRunId ?? rootId,
      },
    },
    plugins,
  );
  const stepRunId = asId<StepRunId>(successor.stepRunId);
  if (scope === "step" && ended.state(stepRunId) === undefined) throw noStepRun(stepRunId, rootId);
  const rerun = chooseRerun(ended, planned.plan, scope === "step" ? { kind: scope, stepRunId } : { kind: scope });
  if (typeof rerun === "string") throw conflict(REFUSALS[rerun](rootId, stepRunId));
  return { planned, again: rerun.again, beginning: beginAgain(runId, planned.plan, ended, rerun) };
}

/**
 * Throws `conflict` when a step that would run again fetches an upload that was deleted. The name in its arguments is always
 * known: definitions take no expression there.
 */
async function refuseGoneUploads(
  context: TriggeringContext,
  { planned: { origin, pipeline, jobs }, again }: PreparedRun,
): Promise<void> {
  const fetched = new Set(
    jobs
      .filter((_, index) => again.has(index))
      .flatMap(({ steps }) => steps.filter(isUploadStep).map(({ args }) => args["name"])),
  );
  if (fetched.size === 0) return;
  const gone = await goneUploads(context, pipeline.projectId, origin.uploads ?? []);
  const missing = gone.filter(([name]) => fetched.has(name));
  if (missing.length === 0) return;
  const names = missing.map(([name, { name: file, uploadId }]) => `${name} (${file}, ${uploadId})`).join(", ");
  throw conflict(
    `steps that would run again fetch uploads that were deleted since: ${names}; send the files again, and trigger a new run with them`,
  );
}

async function readEndedRun({ stores }: TriggeringContext, runId: RunId): Promise<EndedRun> {
  const [aggregate, plan] = await Promise.all([stores.aggregates.load(runId), stores.plans.loadPlan(runId)]);
  if (aggregate === undefined || plan === undefined) throw noPlan(runId);
  const steps = new Map(aggregate.actors.map(({ id, state }) => [id, state]));
  return { runId, plan, state: (id) => steps.get(id) };
}

const REFUSALS: Record<RerunRefusal, (runId: RunId, stepRunId: StepRunId) => string> = {
  plan_differs: (runId) =>
    `run ${runId} would have other jobs or steps now, since its definition reads \`run\` in their names or axes: run all of it again, with scope \`all\``,
  nothing_failed: (runId) => `no job of run ${runId} failed or was cancelled: run all of it again, with scope \`all\``,
  late_cell: (_, stepRunId) =>
    `step run ${stepRunId} is of a matrix whose cells the run itself finds out: run again what failed, with scope \`failed\``,
  never_ran: (runId, stepRunId) =>
    `step run ${stepRunId} did not run in run ${runId}: name a step that did, or run again what failed, with scope \`failed\``,
};

function notEnded({ rootId, summary: { status } }: AggregateHead): MillraceError {
  return conflict(
    `run ${rootId} is ${status}: only a run that has ended can be run again, so wait for its end, or stop it`,
  );
}

function conflict(text: string): MillraceError {
  return new MillraceError("conflict", text);
}
