/**
 * Deletes uploads that no user has completed, and those that have rested for long and that no kept run uses. A node may die
 * after each step of a deletion: the record is marked first, then the content is deleted, then the record; a later pass
 * finds marked records.
 */
import type { UploadId } from "../../domain/ids.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import type { UploadRecord } from "../../stores/ports/uploads.ts";
import type { WithStores } from "../context.ts";
import { type Ages, Pruner } from "../pruner.ts";
import type { ContentContext } from "./context.ts";

const UPLOADS_PER_PASS = 100;
/** Uses that are looked at in one pass, of one upload. */
const USES_AT_ONCE = 20;
/** Time between two looks whether kept runs still use an upload. */
const LOOK_MS = 3_600_000;
/** A use is recorded before its run is stored, so that the use of a run that is missing may be about to have its run. */
const BEGINNING_MS = 3_600_000;

/** The expiry of what is being deleted. */
const BEGUN = 0;

type PrunerContext = Pick<ContentContext, "clock" | "log"> & WithStores<"aggregates" | "uploads" | "blobs">;

/** Deletes old uploads on every node. Several nodes may prune at once: every step of a deletion is idempotent. */
export function uploadPruner(context: PrunerContext, ages: Ages): Pruner {
  return new Pruner(context.log, "old uploads", async () => {
    return (await pruneUploads(context, UPLOADS_PER_PASS, await ages.mayDelete())) === UPLOADS_PER_PASS;
  });
}

/**
 * One pass over at most `limit` uploads whose time is over: deletes each, except those that kept runs use, which get more
 * time. Without `byAge` it only finishes deletions that have begun. Answers how many uploads it found.
 */
export async function pruneUploads(context: PrunerContext, limit: number, byAge = true): Promise<number> {
  const { stores, clock, log } = context;
  const now = clock.now();
  const due = await stores.uploads.expired(byAge ? now : BEGUN, limit);
  for (const upload of due) {
    const { uploadId, projectId, name, state, usedAt } = upload;
    if (state === "stored" && (await isInUse(context, upload, now))) {
      await stores.uploads.extend(uploadId, now + LOOK_MS);
      continue;
    }
    // An upload that a run has taken since it was read stays.
    if (!(await stores.uploads.markDeleting(uploadId, usedAt))) continue;
    await finishDeletion(stores, uploadId);
    log.info({ uploadId, projectId, upload: name, state }, "an upload has expired and is deleted");
  }
  return due.length;
}

/** Deletes an upload, also when runs use it. Idempotent. */
export async function deleteUploadNow(stores: Pick<Stores, "uploads" | "blobs">, uploadId: UploadId): Promise<void> {
  if (await stores.uploads.markDeleting(uploadId, Number.MAX_SAFE_INTEGER)) await finishDeletion(stores, uploadId);
}

/** True when a kept run uses the upload. Drops the uses of runs that are gone. */
async function isInUse({ stores }: PrunerContext, { uploadId }: UploadRecord, now: number): Promise<boolean> {
  const uses = await stores.uploads.usesOf(uploadId, USES_AT_ONCE);
  for (const { runId, at } of uses) {
    if (at + BEGINNING_MS > now || (await stores.aggregates.loadHead(runId)) !== undefined) return true;
    await stores.uploads.dropUse(uploadId, runId);
  }
  // A later pass looks at the others.
  return uses.length === USES_AT_ONCE;
}

async function finishDeletion(
  { uploads, blobs }: Pick<Stores, "uploads" | "blobs">,
  uploadId: UploadId,
): Promise<void> {
  await blobs.delete(uploadId);
  await uploads.remove(uploadId);
}
