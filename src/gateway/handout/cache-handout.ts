/** What `cache` steps are given: the entry of their key, or the newest of one that begins as they say. */
import { cacheVersion } from "../../domain/caches.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type AgentId, cacheIdOf, type ProjectId } from "../../domain/ids.ts";
import type { CacheRecord } from "../../stores/ports/caches.ts";
import { deleteCacheNow } from "../../app/content/cache-pruner.ts";
import { projectOfCacheStep } from "../ingest/cache-steps.ts";
import { readBlob } from "../../app/content/content.ts";
import type { HandoutContext } from "./context.ts";
import type { StepGrant } from "../held-step.ts";

export interface CacheSelection extends StepGrant {
  readonly key: string;
  /** Beginnings of keys that do as well, in this order. */
  readonly restoreKeys: readonly string[];
  readonly paths: readonly string[];
}

/**
 * An entry of the step's project that was made of the same paths; it counts as used now. Throws `conflict` when the agent does
 * not hold the step.
 */
export async function findCache(
  context: HandoutContext,
  agentId: AgentId,
  wanted: CacheSelection,
): Promise<CacheRecord | undefined> {
  const projectId = await projectOfCacheStep(context, agentId, wanted);
  const found = await choose(context, projectId, wanted);
  if (found === undefined) return undefined;
  const usedAt = context.clock.now();
  await context.stores.caches.touch(found, usedAt, usedAt + context.cacheRules.retentionMs);
  return found;
}

/** From a byte on. Throws `not_found` when it is gone; then the entry goes, too, since it would be in the way of another one. */
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
