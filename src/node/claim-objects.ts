/** Makes sure that a part of an object storage belongs to one installation, which deletes what it knows nothing of. */
import { randomUUID } from "node:crypto";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import type { ObjectCalls } from "../stores/ports/blobs.ts";
import type { ShardStore } from "../stores/ports/shards.ts";

/** The name of the stored setting. */
const OWNER = "OBJECT_STORAGE_OWNER";

/**
 * Rejects with `conflict` when another installation stores its content there. While the storage is away, the claim waits for
 * the next start.
 */
export async function claimObjects(
  objects: ObjectCalls,
  shards: Pick<ShardStore, "fixSetting">,
  log: Pick<Logger, "warn">,
): Promise<void> {
  const installation = await shards.fixSetting(OWNER, randomUUID());
  let owner: string;
  try {
    owner = await objects.claim(installation);
  } catch (error) {
    log.warn({ error: String(error) }, "the object storage is not claimed: it does not answer");
    return;
  }
  if (owner === installation) return;
  throw new MillraceError(
    "conflict",
    "MILLRACE_OBJECT_STORAGE names a place where another installation keeps its content: choose another prefix or bucket",
  );
}
