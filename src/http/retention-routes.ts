/** Routes of the retention rules of a project. */
import type { ClusterContext } from "../app/upkeep/cluster.ts";
import { getRetention, retentionBody, setRetention } from "../app/upkeep/retention.ts";
import { asId, type ProjectId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseBody } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

export function addRetentionRoutes(router: ApiRouter, context: ClusterContext): void {
  const at = (ctx: RouteContext) => asId<ProjectId>(ctx.params["projectId"]!);

  router.get(
    "/projects/:projectId/retention",
    answer(context, (ctx) => getRetention(context, ctx.state.caller, { projectId: at(ctx) })),
  );
  router.put(
    "/projects/:projectId/retention",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, retentionBody);
      return setRetention(context, ctx.state.caller, { projectId: at(ctx), body });
    }),
  );
}
