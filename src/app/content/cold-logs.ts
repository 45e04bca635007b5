/** Logs whose lines are in an object storage: whether they can be read, and their removal. */
import type { StepRunId } from "../../domain/ids.ts";
import { noObjectStorage } from "../../stores/ports/logs.ts";
import type { WithStores } from "../context.ts";

/**
 * Rejects with `unavailable` when lines of these logs are in an object storage that does not answer. An answer that has
 * begun could only be cut off.
 */
export async function requireReadableLogs(
  { stores }: WithStores<"blobs" | "logs">,
  stepRunIds: readonly StepRunId[],
): Promise<void> {
  const cold = await stores.logs.coldBlobs(stepRunIds);
  if (cold.length === 0) return;
  if (stores.blobs.objects === undefined) throw noObjectStorage();
  await stores.blobs.objects.check();
}

/**
 * Runs `remove`, which removes these logs from the store, and then their objects: no reader finds a log without its
 * objects. Objects that cannot be removed now are left to the collector of objects.
 */
export async function removeWithObjects(
  { stores }: WithStores<"blobs" | "logs">,
  stepRunIds: readonly StepRunId[],
  remove: () => Promise<void>,
): Promise<void> {
  const { blobs, logs } = stores;
  const cold = blobs.objects === undefined ? [] : await logs.coldBlobs(stepRunIds);
  await remove();
  for (const blobId of cold) {
    try {
      await blobs.delete(blobId);
    } catch {
      return;
    }
  }
}
