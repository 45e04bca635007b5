/** Routes of the limit on the logs of a project's steps. */
import type { AppContext } from "../app/context.ts";
import { getLogLimit, logLimitBody, setLogLimit } from "../app/upkeep/log-limit.ts";
import { asId, type ProjectId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseBody } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

export function addLogLimitRoutes(router: ApiRouter, context: AppContext): void {
  const at = (ctx: RouteContext) => asId<ProjectId>(ctx.params["projectId"]!);

  router.get(
    "/projects/:projectId/log-limit",
    answer(context, (ctx) => getLogLimit(context, ctx.state.caller, { projectId: at(ctx) })),
  );
  router.put(
    "/projects/:projectId/log-limit",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, logLimitBody);
      return setLogLimit(context, ctx.state.caller, { projectId: at(ctx), body });
    }),
  );
}
