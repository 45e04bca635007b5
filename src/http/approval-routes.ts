/** Routes of approvals: what waits for people, and their votes. */
import { listApprovals, listApprovalsQuery, listRunApprovals } from "../app/approvals/approvals.ts";
import type { AppContext } from "../app/context.ts";
import { approve, reject, voteBody } from "../app/approvals/votes.ts";
import { type ApprovalId, asId, type PipelineId, type RunId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseBody, parseQuery } from "./parse.ts";
import type { ApiRouter } from "./state.ts";

export function addApprovalRoutes(router: ApiRouter, context: AppContext): void {
  router.get(
    "/approvals",
    answer(context, (ctx) => listApprovals(context, ctx.state.caller, parseQuery(ctx, listApprovalsQuery))),
  );
  router.get(
    "/pipelines/runs/:runId/approvals",
    answer(context, (ctx) => listRunApprovals(context, ctx.state.caller, { runId: asId<RunId>(ctx.params["runId"]!) })),
  );
  for (const [word, vote] of [
    ["approve", approve],
    ["reject", reject],
  ] as const) {
    router.post(
      `/pipelines/:pipelineId/runs/:runId/approvals/:approvalId/${word}`,
      answer(context, async (ctx) => {
        const body = await parseBody(ctx, voteBody);
        return vote(context, ctx.state.caller, {
          ...body,
          pipelineId: asId<PipelineId>(ctx.params["pipelineId"]!),
          runId: asId<RunId>(ctx.params["runId"]!),
          approvalId: asId<ApprovalId>(ctx.params["approvalId"]!),
        });
      }),
    );
  }
}
