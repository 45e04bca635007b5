/**
 * Moves the lines of logs from the object storage back into the store. What is still to be moved are the chunks that name an
 * object, so a repeat goes on wherever the work was cut off. The objects stay; the collector of objects removes them once
 * nothing names them.
 */
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import type { StepRunId } from "../../domain/ids.ts";
import { type CooledChunk, logOfColdBlob, type LogStore } from "../../stores/ports/logs.ts";
import type { WithStores } from "../context.ts";

/** Logs that one query looks at. */
const LOGS_AT_ONCE = 500;
/** Logs that are moved at the same time: most of the time is spent waiting for the object storage. */
const MOVED_AT_ONCE = 8;

export interface ReturnedLogs {
  /** Logs of which something was moved. */
  readonly logs: number;
  /** Bytes of their chunks, compressed. */
  readonly bytes: number;
  /** Logs with lines whose object is gone, or is not what was moved there. These lines stay as they were. */
  readonly incomplete: readonly StepRunId[];
}

/**
 * Moves back every log that is in the object storage, and tells after each part how far it is. Rejects with `unavailable` when
 * the object storage is away or the store is full, and as `signal` says when that is aborted; all that was moved stays moved.
 */
export async function* returnLogs(
  { stores }: WithStores<"inspection" | "logs">,
  signal: AbortSignal,
): AsyncGenerator<ReturnedLogs, ReturnedLogs, void> {
  const incomplete: StepRunId[] = [];
  let [logs, bytes, after] = [0, 0, ""];
  for (;;) {
    const owners = await stores.inspection.pageOwners("logs", after, LOGS_AT_ONCE);
    const cold = await stores.logs.coldBlobs(owners.map(({ key }) => key as StepRunId));
    const steps = [...new Set(cold.map(logOfColdBlob))];
    for (let at = 0; at < steps.length; at += MOVED_AT_ONCE) {
      const part = steps.slice(at, at + MOVED_AT_ONCE);
      const moved = await settledAll(part.map((stepRunId) => returnLog(stores.logs, stepRunId, signal)));
      incomplete.push(...part.filter((_, of) => moved[of]!.left > 0));
      logs += moved.filter((of) => of.bytes > 0).length;
      bytes += moved.reduce((sum, of) => sum + of.bytes, 0);
      yield { logs, bytes, incomplete };
    }
    if (owners.length < LOGS_AT_ONCE) return { logs, bytes, incomplete };
    after = owners.at(-1)!.key;
  }
}

/** Rejects only when all have ended, because the caller closes the store then. */
async function settledAll<T>(calls: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

async function returnLog(
  logs: LogStore,
  stepRunId: StepRunId,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly left: number }> {
  const chunks = await logs.coldChunks(stepRunId);
  let [bytes, left] = [0, 0];
  for (let at = 0; at < chunks.length;) {
    signal.throwIfAborted();
    const some = pieceOf(chunks.slice(at));
    const missing = await logs.warm(stepRunId, some);
    left += missing.length;
    bytes += bytesOf(some) - bytesOf(missing);
    at += some.length;
  }
  return { bytes, left };
}

/** As many chunks as are about one piece of an object, or one that is larger. */
function pieceOf(chunks: readonly CooledChunk[]): readonly CooledChunk[] {
  let [bytes, count] = [0, 0];
  while (count < chunks.length && bytes < PIECE_BYTES) bytes += chunks[count++]!.place.bytes;
  return chunks.slice(0, count);
}

function bytesOf(chunks: readonly CooledChunk[]): number {
  return chunks.reduce((sum, { place }) => sum + place.bytes, 0);
}
