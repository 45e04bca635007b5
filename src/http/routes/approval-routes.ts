/** Routes of approvals: what waits for people, and their votes. */
import { ApprovalForCallerShape } from "../../app/approvals/approval-shape.ts";
import {
  listApprovals,
  listApprovalsQuery,
  listRunApprovals,
  RunApprovalsShape,
} from "../../app/approvals/approvals.ts";
import { approve, reject, voteBody } from "../../app/approvals/votes.ts";
import type { AppContext } from "../../app/context.ts";
import { cursorPageOf } from "../../app/shapes.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Approvals");
const APPROVAL = "/pipelines/:pipelineId/runs/:runId/approvals/:approvalId";

export const APPROVAL_ROUTES = [
  route({
    method: "GET",
    path: "/approvals",
    name: "listApprovals",
    about: "Lists approvals of all runs; by default the pending ones, newest first.",
    query: listApprovalsQuery,
    answer: cursorPageOf(ApprovalForCallerShape),
    handle: (context, { caller, query }) => listApprovals(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/approvals",
    name: "listRunApprovals",
    about: "Lists all approvals of a run in the order of their requests.",
    answer: RunApprovalsShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => listRunApprovals(context, caller, params),
  }),
  voteRoute(`${APPROVAL}/approve`, "approve", "Approves what waits for approval.", approve),
  voteRoute(`${APPROVAL}/reject`, "reject", "Rejects what waits for approval.", reject),
];

function voteRoute(
  path: `${typeof APPROVAL}/${"approve" | "reject"}`,
  name: string,
  about: string,
  vote: typeof approve,
) {
  return route({
    method: "POST",
    path,
    name,
    about,
    body: voteBody,
    answer: ApprovalForCallerShape,
    errors: ["not_found", "conflict", "request_id_reused"],
    handle: (context, { caller, params, body }) => vote(context, caller, { ...body, ...params }),
  });
}
