/** Routes of the cache entries of a project. */
import { deleteCache, deleteCaches, deleteCachesQuery, listCaches, listCachesQuery } from "../app/content/caches.ts";
import type { AppContext } from "../app/context.ts";
import { asId, type CacheId, type ProjectId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseQuery } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

const PATH = "/projects/:projectId/caches";

export function addCacheRoutes(router: ApiRouter, context: AppContext): void {
  const projectOf = ({ params }: RouteContext) => asId<ProjectId>(params["projectId"]!);
  router.get(
    PATH,
    answer(context, (ctx) => {
      const query = parseQuery(ctx, listCachesQuery);
      return listCaches(context, ctx.state.caller, { ...query, projectId: projectOf(ctx) });
    }),
  );
  router.delete(
    PATH,
    answer(context, (ctx) => {
      const query = parseQuery(ctx, deleteCachesQuery);
      return deleteCaches(context, ctx.state.caller, { ...query, projectId: projectOf(ctx) });
    }),
  );
  router.delete(
    `${PATH}/:cacheId`,
    answer(context, (ctx) => {
      const cacheId = asId<CacheId>(ctx.params["cacheId"]!);
      return deleteCache(context, ctx.state.caller, { projectId: projectOf(ctx), cacheId });
    }),
  );
}
