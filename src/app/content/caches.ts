/** The cache entries of a project: listed and deleted by users. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { CACHE_KEY_LENGTH } from "../../domain/caches.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { CacheId, ProjectId, RunId } from "../../domain/ids.ts";
import type { CacheRecord } from "../../stores/ports/caches.ts";
import type { Caller } from "../identity/access.ts";
import { deleteCacheNow } from "./cache-pruner.ts";
import type { ContentContext } from "./context.ts";
import { placedListFields, placedListView, type PlacedListView } from "../lists.ts";
import { fields, id, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { reach, reachProject } from "../reaching.ts";

const prefix = z.string().min(1).max(CACHE_KEY_LENGTH);

export const listCachesQuery = z.strictObject({ ...placedListFields, prefix: prefix.optional() });
export const deleteCachesQuery = z.strictObject({ prefix });

export const CacheShape = shape("Cache", () => ({
  cacheId: id<CacheId>(),
  projectId: id<ProjectId>(),
  key: z.string(),
  /** Stored bytes. */
  size: wholeNumber,
  sha256: z.string(),
  /** The run whose job uploaded it. */
  runId: id<RunId>(),
  createdAt: time,
  lastUsedAt: time,
  expiresAt: time,
}));
export const DeletedCachesShape = fields(() => ({ deleted: wholeNumber }));

type CacheView = z.infer<typeof CacheShape>;

/**
 * Entries of a project, last used first; with `prefix` those whose key begins with it. Throws `not_found` for an
 * unknown project.
 */
export async function listCaches(
  context: ContentContext,
  caller: Caller,
  request: z.output<typeof listCachesQuery> & { readonly projectId: ProjectId },
): Promise<PlacedListView<CacheView>> {
  const { projectId, prefix: keyPrefix = "" } = request;
  await reachProject(context, caller, "readCaches", projectId);
  const found = await context.stores.caches.list(projectId, keyPrefix, request);
  const placeOf = ({ usedAt, cacheId }: CacheRecord) => ({ at: usedAt, id: cacheId });
  return placedListView(found, { ...request, sort: "-lastUsedAt" }, placeOf, cacheView);
}

/** Throws `not_found`. A job whose download is under way finds no entry and goes on without it. */
export async function deleteCache(
  context: ContentContext,
  caller: Caller,
  { projectId, cacheId }: { readonly projectId: ProjectId; readonly cacheId: CacheId },
): Promise<void> {
  const missing = () =>
    new MillraceError(
      "not_found",
      `project ${projectId} has no cache entry ${JSON.stringify(cacheId)}: it may have been deleted`,
    );
  const { user, found: entry } = await reach(context, caller, "deleteCaches", {
    find: async () => {
      const stored = await context.stores.caches.find(cacheId);
      if (stored === undefined || stored.projectId !== projectId || stored.state !== "stored") throw missing();
      return stored;
    },
    projectOf: () => projectId,
    missing,
  });
  await recorded(user, { kind: "cache", id: cacheId, name: entry.key, before: { key: entry.key } }, () =>
    deleteCacheNow(context.stores, entry),
  );
  context.log.info({ projectId, key: entry.key, by: user.name }, "a cache entry was deleted");
}

/**
 * Deletes the entries whose key begins with `prefix`, and answers how many. Throws `not_found` for an unknown project.
 */
export async function deleteCaches(
  context: ContentContext,
  caller: Caller,
  request: z.output<typeof deleteCachesQuery> & { readonly projectId: ProjectId },
): Promise<z.infer<typeof DeletedCachesShape>> {
  const { projectId } = request;
  const { user } = await reachProject(context, caller, "deleteCaches", projectId);
  const before = { key: `${request.prefix ?? ""}*` };
  const change = { kind: "cache", id: projectId, before } as const;
  let deleted = 0;
  for (;;) {
    const { list } = await context.stores.caches.list(projectId, request.prefix, { page: 1, pageSize: 100 });
    if (list.length === 0) break;
    // The entry of the first piece stands for all of them.
    await recorded(user, change, async () => {
      for (const entry of list) await deleteCacheNow(context.stores, entry);
    });
    deleted += list.length;
  }
  if (deleted === 0) user.trail?.changedNothing();
  context.log.info({ projectId, prefix: request.prefix, deleted, by: user.name }, "cache entries were deleted");
  return { deleted };
}

function cacheView({ cacheId, projectId, key, sizeBytes, sha256, runId, ...times }: CacheRecord): CacheView {
  return {
    cacheId,
    projectId,
    key,
    size: sizeBytes,
    sha256,
    runId,
    createdAt: rfc3339(times.createdAt),
    lastUsedAt: rfc3339(times.usedAt),
    expiresAt: rfc3339(times.expiresAt),
  };
}
