/**
 * Frees what the start of a process leaves in its heap. An idle process makes so little garbage that V8 would keep those pages
 * for half a minute. With Node 24, V8 keeps the pages of a shrunken young generation, some 30 MB, until it is told that memory is
 * low.
 */
import { type Cancel, regularly } from "../domain/clock.ts";

const LOOK_MS = 5_000;
/** A process that was busy for a larger share of the time has work to do, which a collection would hold up. */
const QUIET_SHARE = 0.1;

export interface StartGarbageOptions {
  /** Time between two looks, milliseconds. Default: 5 s. */
  readonly lookMs?: number;
  /** Default: a full collection, which takes about a tenth of a second. */
  readonly collect?: () => Promise<void>;
}

/** Collects garbage once, at the first look that finds the process quiet since the last look. The answer ends the looks; idempotent. */
export function freeStartGarbage({ lookMs = LOOK_MS, collect = collectGarbage }: StartGarbageOptions = {}): Cancel {
  let measured = performance.eventLoopUtilization();
  const cancel = regularly(lookMs, () => {
    const { utilization } = performance.eventLoopUtilization(measured);
    measured = performance.eventLoopUtilization();
    if (utilization > QUIET_SHARE) return;
    cancel();
    void collect();
  });
  return cancel;
}

/** Tells V8 that memory is low. Never rejects: a Node without an inspector keeps the garbage. */
async function collectGarbage(): Promise<void> {
  try {
    const { Session } = await import("node:inspector");
    const session = new Session();
    session.connect();
    // V8 holds a lock of the session while it calls back, and its end waits for that lock.
    await new Promise((resolve) => {
      session.post("HeapProfiler.collectGarbage", () => setImmediate(resolve));
    });
    session.disconnect();
  } catch {
    // The garbage goes when V8 needs the room.
  }
}
