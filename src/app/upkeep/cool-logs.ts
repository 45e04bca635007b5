/**
 * Moves the lines of logs into the object storage, some time after their steps have ended. The store keeps the numbers of
 * the lines and what the headers of the chunks say. A chunk loses its bytes in the store only after its object was read
 * back; a crash leaves an object that nothing names, which the collector of objects removes, or a log of which a part is
 * moved, which is moved further.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { StepRunId } from "../../domain/ids.ts";
import { isActiveStepStatus } from "../../domain/status.ts";
import type { BlobStore, ObjectCalls } from "../../stores/ports/blobs.ts";
import { COLD_LOG_BYTES, coldBlobIdOf, type CooledChunk, type WarmChunk } from "../../stores/ports/logs.ts";
import { loopShare } from "../loop-share.ts";
import type { UpkeepContext } from "./context.ts";

/** An object ends with the chunk that reaches this size: one is in memory at a time. */
const OBJECT_BYTES = 4 << 20;
/** A log whose step still runs is looked at again after this time. */
const LOOK_AGAIN_MS = 600_000;

export type CoolContext = Pick<UpkeepContext, "clock" | "coldLogs"> & {
  readonly stores: Pick<UpkeepContext["stores"], "aggregates" | "blobs" | "logs">;
};

/** When a log may be moved, Unix milliseconds: its time may have come. Null for a log that stays in the store. */
export async function coolingTimeOf(
  { clock, coldLogs, stores }: CoolContext,
  stepRunId: StepRunId,
): Promise<number | null> {
  if (coldLogs === undefined || stores.blobs.objects === undefined) return null;
  if ((await stores.logs.size(stepRunId)).bytes < COLD_LOG_BYTES) return null;
  const step = await stores.aggregates.findStep(stepRunId);
  if (step === undefined) return null;
  const { state, endedAt } = step.actor.state as StepState;
  const now = clock.now();
  if (isActiveStepStatus(stepStatus(state))) return now + Math.min(LOOK_AGAIN_MS, coldLogs.afterMs + 1);
  return (endedAt ?? now) + coldLogs.afterMs;
}

/** Moves what the store has of a log. Idempotent. Rejects with `unavailable` while the object storage is away. */
export async function coolLog({ stores }: Pick<CoolContext, "stores">, stepRunId: StepRunId): Promise<void> {
  const { logs, blobs } = stores;
  for (let from = 1; ;) {
    await loopShare.enter();
    const chunks = await logs.warmChunks(stepRunId, from, OBJECT_BYTES);
    if (chunks.length === 0) return;
    const blobId = coldBlobIdOf(stepRunId, randomBytes(6).toString("hex"));
    await storeObject(blobs, blobId, Buffer.concat(chunks.map(({ body }) => body)));
    const cooled = await logs.cool(stepRunId, placesIn(blobId, chunks));
    // The log was removed meanwhile, or another worker has moved it.
    if (cooled === 0) await blobs.delete(blobId);
    from = chunks.at(-1)!.last + 1;
    await sleep(0);
  }
}

function placesIn(blobId: string, chunks: readonly WarmChunk[]): readonly CooledChunk[] {
  let offset = 0;
  return chunks.map(({ first, last, compression, body: { length: bytes } }) => {
    const place = { blobId, offset, bytes, compression };
    offset += bytes;
    return { first, last, place };
  });
}

async function storeObject(
  blobs: Pick<BlobStore, "read"> & { readonly objects?: Pick<ObjectCalls, "put"> },
  blobId: string,
  bytes: Buffer,
): Promise<void> {
  await blobs.objects!.put(blobId, bytes);
  for (let at = 0; at < bytes.length;) {
    const stored = await blobs.read(blobId, at, PIECE_BYTES);
    if (stored.length === 0 || !bytes.subarray(at, at + stored.length).equals(stored)) {
      throw new MillraceError(
        "unavailable",
        "the object storage does not answer the lines of a log as it was given them",
      );
    }
    at += stored.length;
  }
}
