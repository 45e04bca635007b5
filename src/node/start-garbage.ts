/**
 * Frees what the start of a process leaves in its heap. An idle process makes so little garbage that V8 would keep those pages
 * for half a minute. With Node 24, V8 keeps the pages of a shrunken young generation, some 30 MB, until it is told that memory is
 * low.
 */
import { setFlagsFromString } from "node:v8";
import { type Cancel, regularly } from "../domain/clock.ts";
import { watchProcessorShare } from "./processor-share.ts";

const LOOK_MS = 5_000;
/** After the collection: V8 is to mark in steps again before the work that begins has filled the heap. */
const WORK_LOOK_MS = 1_000;
/** A process that was busy for a larger share of the time has work to do, which a collection would hold up. */
const QUIET_SHARE = 0.1;

export interface StartGarbageOptions {
  /** Time between two looks, milliseconds. Default: 5 s, and 1 s after the collection. */
  readonly lookMs?: number;
  /** Default: a full collection, which takes about a tenth of a second. */
  readonly collect?: () => Promise<void>;
  /** Whether V8 may mark in steps, beside the program. */
  readonly setMarking?: (isOn: boolean) => void;
}

/**
 * Collects garbage once, at the first look that finds the process quiet since the last look. V8 would collect twice more, some
 * time after any collection, as soon as little is allocated. Those collections begin with marking in steps, so V8 may not do
 * that until the process has been busy again: before, they would find nothing. The answer ends the looks; idempotent.
 */
export function freeStartGarbage({
  lookMs,
  collect = collectGarbage,
  setMarking = setIncrementalMarking,
}: StartGarbageOptions = {}): Cancel {
  let isCancelled = false;
  const awaitWork = (): void => {
    if (isCancelled) return;
    setMarking(false);
    cancelLooks = watchProcessorShare(lookMs ?? WORK_LOOK_MS, (share) => {
      if (share <= QUIET_SHARE) return;
      cancelLooks();
      setMarking(true);
    });
  };
  let measured = performance.eventLoopUtilization();
  let cancelLooks = regularly(lookMs ?? LOOK_MS, () => {
    const { utilization } = performance.eventLoopUtilization(measured);
    measured = performance.eventLoopUtilization();
    if (utilization > QUIET_SHARE) return;
    cancelLooks();
    void collect().then(awaitWork);
  });
  return () => {
    isCancelled = true;
    cancelLooks();
    setMarking(true);
  };
}

function setIncrementalMarking(isOn: boolean): void {
  setFlagsFromString(isOn ? "--incremental-marking" : "--no-incremental-marking");
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
