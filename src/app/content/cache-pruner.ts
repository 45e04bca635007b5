/**
 * Deletes cache entries that no job has used for long, the entries used longest ago in a project that has too many
 * bytes, and uploads that were abandoned. A node may die after each step of a deletion: the record is marked first,
 * then the content is deleted, then the record; a later pass finds marked records.
 */
import type { CacheRecord } from "../../stores/ports/caches.ts";
import type { WithStores } from "../context.ts";
import type { ContentContext } from "./context.ts";
import { type Ages, Pruner } from "../pruner.ts";

/** Entries of each kind in one pass. */
const ENTRIES_PER_PASS = 100;

/** The expiry of what is being deleted. */
const BEGUN = 0;

type PrunerContext = Pick<ContentContext, "clock" | "log" | "cacheRules"> & WithStores<"caches" | "blobs">;

/** Deletes old cache entries on every node. Several nodes may prune at once: they find the same entries. */
export function cachePruner(context: PrunerContext, ages: Ages): Pruner {
  return new Pruner(context.log, "old cache entries", async () => {
    return (await pruneCaches(context, ENTRIES_PER_PASS, await ages.mayDelete())) >= ENTRIES_PER_PASS;
  });
}

/**
 * One pass over at most `limit` expired entries and at most `limit` entries beyond the bound of their project. Without
 * `byAge`, of the expired ones it only finishes deletions that have begun. Answers the larger of the two counts.
 */
export async function pruneCaches(
  { stores, clock, log, cacheRules }: PrunerContext,
  limit: number,
  byAge = true,
): Promise<number> {
  const expired = await stores.caches.expired(byAge ? clock.now() : BEGUN, limit);
  for (const entry of expired) await drop(entry, "a cache entry has expired and is deleted");
  const beyond = await stores.caches.aboveProjectBytes(cacheRules.maxProjectBytes, limit);
  for (const entry of beyond) await drop(entry, "a cache entry makes room for those used since, and is deleted");
  return Math.max(expired.length, beyond.length);

  async function drop(entry: CacheRecord, why: string): Promise<void> {
    // An entry that a step has used since it was read stays.
    if (!(await stores.caches.markDeleting(entry, entry.usedAt))) return;
    await finishDeletion(stores, entry);
    const { projectId, key, sizeBytes, state } = entry;
    log.info({ projectId, key, sizeBytes, state }, why);
  }
}

/** Deletes an entry whenever it was used last. Idempotent. */
export async function deleteCacheNow(stores: PrunerContext["stores"], entry: CacheRecord): Promise<void> {
  if (await stores.caches.markDeleting(entry, Number.MAX_SAFE_INTEGER)) await finishDeletion(stores, entry);
}

async function finishDeletion({ caches, blobs }: PrunerContext["stores"], entry: CacheRecord): Promise<void> {
  await blobs.delete(entry.blobId);
  await caches.remove(entry);
}
