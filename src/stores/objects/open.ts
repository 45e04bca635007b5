/** Opens the object storage of an installation. */
import type { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import type { ObjectPlace } from "../../settings/object-storage.ts";
import type { BlobStore } from "../ports/blobs.ts";
import { isMisconfigured } from "./faults.ts";
import { movedBlobStore } from "./moved-blobs.ts";
import { ObjectBlobStore } from "./object-blobs.ts";
import { type MeasureCall, ObjectClient } from "./object-client.ts";

export interface OpenObjectsOptions {
  readonly place: ObjectPlace;
  /** Where the installation kept its blobs before, or would without an object storage. */
  readonly former: BlobStore;
  readonly log?: Pick<Logger, "warn"> | undefined;
  readonly measure?: MeasureCall | undefined;
}

/**
 * Rejects with `unavailable` when the storage refuses this installation. One that cannot be reached is logged: everything
 * else works without it.
 */
export async function openObjectBlobs({
  place,
  former,
  log,
  measure,
}: OpenObjectsOptions): Promise<{ readonly blobs: BlobStore; close(): void }> {
  const client = new ObjectClient(place, measure);
  try {
    await client.check();
  } catch (error) {
    if (isMisconfigured(error as MillraceError)) {
      client.close();
      throw error;
    }
    log?.warn({ error: String(error) }, "the object storage does not answer; what needs it waits or fails");
  }
  return { blobs: movedBlobStore(new ObjectBlobStore(client), former), close: () => client.close() };
}
