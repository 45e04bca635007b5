/** How V8 optimises the code of a node. */
import { setFlagsFromString } from "node:v8";
import type { Cancel } from "../domain/clock.ts";
import { type ProcessorTime, watchProcessorShare } from "./processor-share.ts";

/**
 * Bytecode of callees that one optimised function may take in; V8's default is 920. A node runs much code seldom, not little
 * code often. With the default, the optimising compiler takes a third of the CPU of the first thousands of runs, mostly because
 * it compiles the same callees again into each of their callers.
 */
const INLINED_BYTES = 300;

/**
 * Bytecode that a function runs before V8 looks whether to optimise it, on Node 20; twice the default. The compiler is as
 * slow for a function that a node runs ten times a second as for one that it runs in a loop.
 */
const BYTES_BEFORE_OPTIMISING = 135_168;

/**
 * V8 looks once more for each so many bytes of bytecode that a function has, before it optimises the function, on Node 20; V8's
 * default is 150. A large function takes the compiler tens of milliseconds, and the longest of a node mostly call others.
 */
const BYTES_FOR_ANOTHER_LOOK = 40;

/** Later releases have a second compiler between, which is faster, and count calls in place of bytecode. */
const COUNTS_BYTES = /^20\./;

const LOOK_MS = 1_000;
/** A process that takes less of one processor has little to do: an idle node takes less than 0.5 %, and a run of one step 7 ms. */
const BUSY_SHARE = 0.02;

/** To be called early: what V8 has optimised already stays as it is. */
export function optimiseLess(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
  if (!COUNTS_BYTES.test(process.versions.node)) return;
  setFlagsFromString(`--interrupt-budget=${BYTES_BEFORE_OPTIMISING}`);
  setFlagsFromString(`--bytecode-size-allowance-per-tick=${BYTES_FOR_ANOTHER_LOOK}`);
}

export interface OptimisationOptions {
  /** Default: that of this process. */
  readonly processorTime?: ProcessorTime;
  readonly setOptimising?: (isOn: boolean) => void;
  /** Time between two looks, milliseconds. Default: 1 s. */
  readonly lookMs?: number;
}

/**
 * Lets V8 optimise functions only while the process is busy. V8 counts how much a function has run, over whatever time: what
 * an idle node does each second would be optimised within its first minutes, and that costs more than it ever saves. The
 * answer ends the looks; idempotent.
 */
export function optimiseWhileBusy({
  processorTime,
  setOptimising = setCompiler,
  lookMs = LOOK_MS,
}: OptimisationOptions = {}): Cancel {
  let isBusy = true;
  const look = (share: number): void => {
    const wasBusy = isBusy;
    isBusy = share >= BUSY_SHARE;
    if (isBusy !== wasBusy) setOptimising(isBusy);
  };
  const cancel = watchProcessorShare(lookMs, look, processorTime);
  return () => {
    cancel();
    setOptimising(true);
  };
}

/** Changes nothing in a process that may not compile at all. */
function setCompiler(isOn: boolean): void {
  setFlagsFromString(isOn ? "--turbofan" : "--no-turbofan");
}
