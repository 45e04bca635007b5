/** How V8 optimises the code of a node. */
import { setFlagsFromString } from "node:v8";
import { type Cancel, regularly } from "../domain/clock.ts";

/**
 * Bytecode of callees that one optimised function may take in; V8's default is 920. A node runs much code seldom, not little
 * code often. With the default, the optimising compiler takes a third of the CPU of the first thousands of runs, mostly because
 * it compiles the same callees again into each of their callers.
 */
const INLINED_BYTES = 300;

const LOOK_MS = 1_000;
/** A process that takes less of one processor has little to do. */
const BUSY_SHARE = 0.05;

/** To be called early: what V8 has optimised already stays as it is. */
export function inlineLess(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
}

export interface OptimisationOptions {
  /** Processor time that the process has taken, microseconds. */
  readonly cpuTime?: () => number;
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
  cpuTime = ownCpuTime,
  setOptimising = setCompiler,
  lookMs = LOOK_MS,
}: OptimisationOptions = {}): Cancel {
  let isBusy = true;
  let lookedAt = performance.now();
  let taken = cpuTime();
  const cancel = regularly(lookMs, () => {
    const now = performance.now();
    const total = cpuTime();
    const wasBusy = isBusy;
    isBusy = (total - taken) / 1_000 >= (now - lookedAt) * BUSY_SHARE;
    [lookedAt, taken] = [now, total];
    if (isBusy !== wasBusy) setOptimising(isBusy);
  });
  return () => {
    cancel();
    setOptimising(true);
  };
}

/** That of all threads: those for definitions work while the main thread waits for them. */
function ownCpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Changes nothing in a process that may not compile at all. */
function setCompiler(isOn: boolean): void {
  setFlagsFromString(isOn ? "--turbofan" : "--no-turbofan");
}
