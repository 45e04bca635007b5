/** Slugs of tenants and projects in the addresses of calls. */
import { idsOfSlugs } from "../../app/area-names.ts";
import type { RightsContext } from "../../app/reaching.ts";
import type { RouteContext } from "./state.ts";

/** Puts ids in the place of the slugs in the path and in the query of a call. */
export function slugReader(context: RightsContext): (ctx: RouteContext) => Promise<void> {
  return async (ctx) => {
    const { params, state } = ctx;
    if (params["projectId"] !== undefined || params["tenantId"] !== undefined) {
      Object.assign(params, await idsOfSlugs(context, state.caller, params));
    }
    if (ctx.querystring === "") return;
    const { query } = ctx;
    const { tenantId, projectId, project } = query;
    if (tenantId === undefined && projectId === undefined && project === undefined) return;
    const ids = await idsOfSlugs(context, state.caller, { tenantId, projectId: projectId ?? project });
    if (projectId === undefined && ids.projectId !== undefined) ctx.query = { ...query, project: ids.projectId };
    else if (Object.keys(ids).length > 0) ctx.query = { ...query, ...ids };
  };
}
