/** Routes of the cache entries of a project. */
import {
  CacheShape,
  deleteCache,
  deleteCaches,
  deleteCachesQuery,
  DeletedCachesShape,
  listCaches,
  listCachesQuery,
} from "../../app/content/caches.ts";
import type { AppContext } from "../../app/context.ts";
import { cursorPageOf } from "../../app/shapes.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Caches");
const CACHES = "/projects/:projectId/caches";

export const CACHE_ROUTES = [
  route({
    method: "GET",
    path: CACHES,
    name: "listCaches",
    about: "Lists the cache entries of a project, last used first.",
    query: listCachesQuery,
    answer: cursorPageOf(CacheShape),
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listCaches(context, caller, { ...query, ...params }),
  }),
  route({
    method: "DELETE",
    path: CACHES,
    name: "deleteCaches",
    about: "Deletes the cache entries whose key begins with `prefix`.",
    query: deleteCachesQuery,
    answer: DeletedCachesShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => deleteCaches(context, caller, { ...query, ...params }),
  }),
  route({
    method: "DELETE",
    path: `${CACHES}/:cacheId`,
    name: "deleteCache",
    about: "Deletes one cache entry.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deleteCache(context, caller, params),
  }),
];
