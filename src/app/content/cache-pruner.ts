/**
 * Deletes cache entries that nobody has used for long, those used longest ago where a project has too many, and what uploads
 * have left that nobody went on with. Each step is safe to die after: the record is marked, then the content goes, then the
 * record; what is marked is found again.
 */
import type { CacheRecord } from "../../stores/ports/caches.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import type { AppContext } from "../context.ts";
import { Pruner } from "../pruner.ts";

/** Of one look; the next follows at once while there are more. */
const ENTRIES_A_LOOK = 100;

type Ports = Pick<AppContext, "clock" | "log" | "cacheRules"> & { readonly stores: Pick<Stores, "caches" | "blobs"> };

/** Several nodes may sweep at once: they find the same to delete. */
export function cachePruner(context: Ports): Pruner {
  return new Pruner(context.log, "old cache entries", async () => {
    return (await pruneCaches(context, ENTRIES_A_LOOK)) >= ENTRIES_A_LOOK;
  });
}

/** Looks at `limit` entries at most of each kind, and answers how many it saw. */
export async function pruneCaches({ stores, clock, log, cacheRules }: Ports, limit: number): Promise<number> {
  const expired = await stores.caches.expired(clock.now(), limit);
  for (const entry of expired) await drop(entry, "a cache entry has expired and is deleted");
  const beyond = await stores.caches.beyond(cacheRules.maxProjectBytes, limit);
  for (const entry of beyond) await drop(entry, "a cache entry makes room for those used since, and is deleted");
  return Math.max(expired.length, beyond.length);

  async function drop(entry: CacheRecord, why: string): Promise<void> {
    // One that a step was given since stays.
    if (!(await stores.caches.condemn(entry, entry.usedAt))) return;
    await finishDeletion(stores, entry);
    const { projectId, key, sizeBytes, state } = entry;
    log.info({ projectId, key, sizeBytes, state }, why);
  }
}

/** Deletes it however lately it was used. */
export async function deleteCacheNow(stores: Ports["stores"], entry: CacheRecord): Promise<void> {
  if (await stores.caches.condemn(entry, Number.MAX_SAFE_INTEGER)) await finishDeletion(stores, entry);
}

async function finishDeletion({ caches, blobs }: Ports["stores"], entry: CacheRecord): Promise<void> {
  await blobs.delete(entry.blobId);
  await caches.remove(entry);
}
