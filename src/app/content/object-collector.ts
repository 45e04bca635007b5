/**
 * Removes what an object storage has that no record leads to: a process died, content arrived after its record was deleted,
 * or the store was restored from a backup. What records lead to is deleted with them.
 */
import { asId, type ArtifactId, type DeliveryId, type UploadId } from "../../domain/ids.ts";
import { logOfColdBlob } from "../../stores/ports/logs.ts";
import type { ObjectCalls } from "../../stores/ports/blobs.ts";
import type { AppContext, WithStores } from "../context.ts";
import { loopShare } from "../loop-share.ts";
import { type Ages, Pruner } from "../pruner.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Longer than a step may run and its agent may try again; and time to notice that a wrong backup was restored. */
const LEAST_AGE_MS = 7 * DAY_MS;
/** With more cache entries than these, orphans of caches are left. */
const MOST_CACHES = 20_000;

type CollectorContext = Pick<AppContext, "clock" | "log" | "uploadRules"> &
  WithStores<"blobs" | "artifacts" | "caches" | "uploads" | "hooks" | "logs">;

/**
 * On every worker, each hour for unfinished content and each day for orphans, of which only the worker that `isFirst` looks:
 * it reads the names of all objects. Does nothing without an object storage.
 */
export function objectCollector(context: CollectorContext, ages: Ages, isFirst: () => boolean): Pruner {
  const { clock, stores } = context;
  let unfinishedAt = clock.monotonic() + HOUR_MS * Math.random();
  let orphansAt = clock.monotonic() + HOUR_MS + DAY_MS * Math.random();
  return new Pruner(context.log, "objects without a record", async () => {
    const now = clock.monotonic();
    if (stores.blobs.objects === undefined || Math.min(unfinishedAt, orphansAt) > now) return false;
    if (!(await ages.mayDelete())) return false;
    if (unfinishedAt <= now) {
      unfinishedAt = now + HOUR_MS;
      await removeUnfinished(context, stores.blobs.objects);
    }
    if (orphansAt <= now) {
      orphansAt = now + DAY_MS;
      if (isFirst()) await removeOrphans(context, stores.blobs.objects);
    }
    return false;
  });
}

/** One look for content that was never completed. Answers how many objects and uploads it removed. */
export async function removeUnfinished(
  { clock, log, uploadRules }: Pick<CollectorContext, "clock" | "log" | "uploadRules">,
  objects: ObjectCalls,
): Promise<number> {
  const ageMs = Math.max(LEAST_AGE_MS, uploadRules.unfinishedMs + DAY_MS);
  const removed = await objects.removeUnfinished(clock.now() - ageMs);
  if (removed > 0) log.info({ removed }, "unfinished content was removed from the object storage");
  return removed;
}

/** One look at all complete content. Answers how many objects it removed. */
export async function removeOrphans(context: CollectorContext, objects: ObjectCalls): Promise<number> {
  const { stores, clock, log } = context;
  const before = clock.now() - LEAST_AGE_MS;
  const ofCaches: string[] = [];
  let removed = 0;
  for await (const { blobId, storedAt } of objects.list()) {
    if (storedAt >= before) continue;
    await loopShare.enter();
    if (blobId.startsWith(CACHE)) {
      ofCaches.push(blobId);
      continue;
    }
    if (await hasRecord(context, blobId)) continue;
    await stores.blobs.delete(blobId);
    removed++;
  }
  // Read behind the names: the record of an entry is there before its content.
  const entries = await stores.caches.expired(Number.MAX_SAFE_INTEGER, MOST_CACHES);
  const used = new Set(entries.map(({ blobId }) => blobId));
  for (const blobId of entries.length < MOST_CACHES ? ofCaches : []) {
    if (used.has(blobId)) continue;
    await stores.blobs.delete(blobId);
    removed++;
  }
  if (removed > 0) log.warn({ removed }, "content without a record was removed from the object storage");
  return removed;
}

const CACHE = "cchb_";

/** True also for content of a kind whose records cannot be found by its id. */
async function hasRecord({ stores }: CollectorContext, blobId: string): Promise<boolean> {
  switch (blobId.slice(0, blobId.indexOf("_"))) {
    case "art":
      return (await stores.artifacts.find(asId<ArtifactId>(blobId))) !== undefined;
    case "upl":
      return (await stores.uploads.find(asId<UploadId>(blobId))) !== undefined;
    case "hdl":
      return (await stores.hooks.findDelivery(asId<DeliveryId>(blobId))) !== undefined;
    case "log":
      return (await stores.logs.coldBlobs([logOfColdBlob(blobId)])).includes(blobId);
    default:
      return true;
  }
}
