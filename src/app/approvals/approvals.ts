/** Lists approvals: of all runs, and of one run. */
import type { ApprovalLocation } from "../../stores/ports/aggregates.ts";
import { z } from "zod";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../domain/ids.ts";
import { APPROVAL_STATUSES } from "../../domain/status.ts";
import { fields, id, listOf } from "../shapes.ts";
import { ApprovalForCallerShape } from "./approval-shape.ts";
import type { Caller } from "../identity/access.ts";
import { type ApprovalForCaller, approvalForCaller, approvalsOf } from "./approval-view.ts";
import type { ApprovalsContext } from "./context.ts";
import { findPlan, findRunHead, noRun } from "../lookups.ts";
import { actingIn, projectIdsFor, reach } from "../reaching.ts";
import { pageRequest, placedListFields, placedListView, type PlacedListView, sortField } from "../lists.ts";

const idText = z.string().min(1).max(64);

export const listApprovalsQuery = z.strictObject({
  ...placedListFields,
  sort: sortField(["requestedAt"], "-requestedAt"),
  status: z.enum(APPROVAL_STATUSES).default("pending"),
  projectId: idText.optional(),
  pipelineId: idText.optional(),
});

/** Approvals of all runs; the default are the pending ones, newest first. */
export async function listApprovals(
  context: ApprovalsContext,
  caller: Caller,
  input: z.output<typeof listApprovalsQuery>,
): Promise<PlacedListView<ApprovalForCaller>> {
  const { user, projectIds } = await projectIdsFor(context, caller, "readApprovals");
  const { status, projectId, pipelineId } = input;
  const filter = {
    status,
    ...(projectIds === undefined ? {} : { projectIds }),
    ...(projectId === undefined ? {} : { projectId: asId<ProjectId>(projectId) }),
    ...(pipelineId === undefined ? {} : { pipelineId: asId<PipelineId>(pipelineId) }),
  };
  const found = await context.stores.aggregates.listApprovals(filter, pageRequest(input));
  const views: ApprovalForCaller[] = [];
  // One after the other: a plan may have megabytes, and only one is in memory at a time.
  for (const { runId, actor } of found.list) {
    const [plan, { origin }] = await Promise.all([findPlan(context, runId), findRunHead(context, runId)]);
    const approval = actor.state as ApprovalState;
    const acting = await actingIn(context, user, approval.projectId);
    // Without rights: the caller has lost them since the page was read.
    if (acting !== undefined) views.push(approvalForCaller({ approval, plan, origin }, acting));
  }
  const placeOf = ({ actor }: ApprovalLocation) => ({ at: (actor.state as ApprovalState).requestedAt, id: actor.id });
  return { ...placedListView(found, input, placeOf, ({ actor }) => actor), list: views };
}

export const RunApprovalsShape = fields(() => ({ runId: id<RunId>(), list: listOf(ApprovalForCallerShape) }));

/** All approvals of one run in the order of their requests. Throws `not_found`. */
export async function listRunApprovals(
  context: ApprovalsContext,
  caller: Caller,
  { runId }: { readonly runId: RunId },
): Promise<z.infer<typeof RunApprovalsShape>> {
  const { user, found: aggregate } = await reach(context, caller, "readApprovals", {
    find: async () => {
      const loaded = await context.stores.aggregates.load(runId);
      if (loaded === undefined) throw noRun(runId, undefined);
      return loaded;
    },
    projectOf: ({ head }) => head.summary.projectId,
    missing: () => noRun(runId, undefined),
  });
  const plan = await findPlan(context, runId);
  const { origin } = aggregate.head;
  return {
    runId,
    list: approvalsOf(aggregate).map((approval) => approvalForCaller({ approval, plan, origin }, user)),
  };
}
