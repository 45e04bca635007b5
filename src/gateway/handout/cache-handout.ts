/**
 * Downloads of cache entries: a `cache` step gets the entry of its key, or the newest entry whose key has one of its
 * prefixes.
 */
import { cacheVersion } from "../../domain/caches.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type AgentId, cacheIdOf, type ProjectId } from "../../domain/ids.ts";
import type { CacheRecord } from "../../stores/ports/caches.ts";
import { deleteCacheNow } from "../../app/content/cache-pruner.ts";
import { projectOfCacheStep } from "../ingest/cache-steps.ts";
import { readBlob } from "../../app/content/content.ts";
import type { HandoutContext } from "./context.ts";
import type { StepGrant } from "../held-step.ts";

/** The cache entry that a step asks for. */
export interface CacheSelection extends StepGrant {
  readonly key: string;
  /** Prefixes of keys that may be used instead, in the order of preference. */
  readonly restoreKeys: readonly string[];
  readonly paths: readonly string[];
}

/**
 * The entry of the step's project that matches the selection and was made of the same paths; undefined without one. The
 * entry counts as used now. Throws `conflict` when the agent does not hold the step, or it is no `cache` step.
 */
export async function findCache(
  context: HandoutContext,
  agentId: AgentId,
  selection: CacheSelection,
): Promise<CacheRecord | undefined> {
  const projectId = await projectOfCacheStep(context, agentId, selection);
  const found = await choose(context, projectId, selection);
  if (found === undefined) return undefined;
  const usedAt = context.clock.now();
  await context.stores.caches.touch(found, usedAt, usedAt + context.cacheRules.retentionMs);
  return found;
}

/**
 * The bytes of an entry from offset `from` on. Throws `not_found` when the content is gone, and deletes the entry,
 * which would keep jobs from uploading another.
 */
export async function* readCache(
  { stores }: HandoutContext,
  entry: CacheRecord,
  from: number,
): AsyncGenerator<Uint8Array, void, void> {
  const { blobId, key, sizeBytes } = entry;
  try {
    yield* readBlob(stores.blobs, { blobId, what: `the cache ${JSON.stringify(key)}` }, from, sizeBytes - from);
  } catch (error) {
    if (error instanceof MillraceError && error.reason === "not_found") await deleteCacheNow(stores, entry);
    throw error;
  }
}

async function choose(
  { stores: { caches }, clock }: HandoutContext,
  projectId: ProjectId,
  { key, restoreKeys, paths }: CacheSelection,
): Promise<CacheRecord | undefined> {
  const now = clock.now();
  const version = cacheVersion(paths);
  const exact = await caches.find(cacheIdOf(projectId, version, key));
  if (exact?.state === "stored" && exact.expiresAt > now) return exact;
  for (const prefix of restoreKeys) {
    const newest = await caches.newest({ projectId, version }, prefix, now);
    if (newest !== undefined) return newest;
  }
  return undefined;
}
