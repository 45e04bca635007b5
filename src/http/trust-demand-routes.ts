/** Routes of what a project demands of the agents of its jobs. */
import { getTrustDemand, setTrustDemand, trustDemandBody } from "../app/agents/trust-demand.ts";
import type { AppContext } from "../app/context.ts";
import { asId, type ProjectId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseBody } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

export function addTrustDemandRoutes(router: ApiRouter, context: AppContext): void {
  const at = (ctx: RouteContext) => asId<ProjectId>(ctx.params["projectId"]!);

  router.get(
    "/projects/:projectId/trust-demand",
    answer(context, (ctx) => getTrustDemand(context, ctx.state.caller, { projectId: at(ctx) })),
  );
  router.put(
    "/projects/:projectId/trust-demand",
    answer(context, async (ctx) => {
      const demand = await parseBody(ctx, trustDemandBody);
      return setTrustDemand(context, ctx.state.caller, { projectId: at(ctx), demand });
    }),
  );
}
