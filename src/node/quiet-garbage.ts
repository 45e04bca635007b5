/**
 * Frees what the start of a process, or a time with much work, leaves in its heap. A quiet process makes so little garbage that V8
 * would keep those pages: after a start for half a minute, and after a thousand agents have connected for much longer. With
 * Node 24, V8 keeps the pages of a shrunken young generation, some 30 MB, until it is told that memory is low.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { type Cancel, regularly } from "../domain/clock.ts";
import { watchProcessorShare } from "./processor-share.ts";

const LOOK_MS = 5_000;
/**
 * A process that was busy for a larger share of the time has work to do, which a collection would hold up. The heartbeats of 1,000
 * idle agents keep a gateway busy for a tenth of the time, and for a quarter on a machine with too much to do.
 */
const QUIET_SHARE = 0.3;
/** V8 may mark again after a second in which the process took more of one processor, before new work has filled the heap. */
const WORK_SHARE = 0.1;
const WORK_LOOK_MS = 1_000;
/**
 * A heap that has grown by more since the last look shows work that goes on, such as agents that connect. Their garbage is
 * collected at the end, not half-way.
 */
const GROWING_BYTES = 8 << 20;
/** Less is not worth a collection. */
const GROWTH_BYTES = 8 << 20;
/** The heap grows by this share at least, so that collections become rarer as they take longer. */
const GROWTH_SHARE = 0.2;
/** A collection of more would hold up the process for too long. V8 collects it in small steps when it needs the room. */
const LARGEST_BYTES = 256 << 20;

export interface QuietGarbageOptions {
  /** Time between two looks, milliseconds. Default: 5 s, and 1 s for work after a collection. */
  readonly lookMs?: number;
  /** Default: a full collection, which takes about a tenth of a second for each 50 MB that live. */
  readonly collect?: () => Promise<void>;
  /** Default: the size of what V8 no longer counts as young. */
  readonly heapBytes?: () => number;
  /** Whether V8 may mark in steps, beside the program. */
  readonly setMarking?: (isOn: boolean) => void;
}

/**
 * Collects garbage at the first look that finds the process quiet since the last look, and again at a quiet look whenever the
 * heap has grown by much since the last collection. V8 would collect twice more, some time after any collection, as soon as
 * little is allocated, and would find nothing. It begins that by marking in steps, so it may not do that until there is work
 * again. The answer ends the looks; idempotent.
 */
export function freeQuietGarbage({
  lookMs,
  collect = collectGarbage,
  heapBytes = oldHeapBytes,
  setMarking = setIncrementalMarking,
}: QuietGarbageOptions = {}): Cancel {
  let measured = performance.eventLoopUtilization();
  /** From this size on a quiet process is worth a collection. */
  let worthBytes = 0;
  let lastBytes = Infinity;
  let isEnded = false;
  let endRest: Cancel = () => {};
  const cancelLooks = regularly(lookMs ?? LOOK_MS, () => {
    const { utilization } = performance.eventLoopUtilization(measured);
    measured = performance.eventLoopUtilization();
    const before = heapBytes();
    const isGrowing = before - lastBytes > GROWING_BYTES;
    lastBytes = before;
    if (utilization > QUIET_SHARE || isGrowing) return;
    if (before < worthBytes || before > LARGEST_BYTES) return;
    worthBytes = Infinity;
    void collect().then(() => {
      const left = heapBytes();
      worthBytes = left + Math.max(GROWTH_BYTES, GROWTH_SHARE * left);
      endRest();
      if (!isEnded) endRest = restFromMarking(lookMs ?? WORK_LOOK_MS, setMarking);
    });
  });
  return () => {
    isEnded = true;
    cancelLooks();
    endRest();
  };
}

/** V8 does not mark in steps until there is work, or until the answer is called; idempotent. */
function restFromMarking(lookMs: number, setMarking: (isOn: boolean) => void): Cancel {
  setMarking(false);
  const cancelLooks = watchProcessorShare(lookMs, (share) => {
    if (share > WORK_SHARE) end();
  });
  const end = (): void => {
    cancelLooks();
    setMarking(true);
  };
  return end;
}

function setIncrementalMarking(isOn: boolean): void {
  setFlagsFromString(isOn ? "--incremental-marking" : "--no-incremental-marking");
}

/** The young generation is as large as the pace of work needs it, and V8 collects it all the time. */
function oldHeapBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith("new_"));
  return spaces.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
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
