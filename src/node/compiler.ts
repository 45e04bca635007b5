/** How V8 optimises the code of a node. */
import { setFlagsFromString } from "node:v8";
import type { BegunRuns } from "../app/begun-runs.ts";
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

/** Later releases count calls in place of bytecode. */
const COUNTS_BYTES = /^20\./;

/** Earlier releases have no second compiler, or have it switched off. */
const HAS_MAGLEV = Number.parseInt(process.versions.node) >= 24;

const LOOK_MS = 1_000;
/** A process that takes less of one processor has little to do: an idle node takes less than 0.5 %, and a run of one step 7 ms. */
const BUSY_SHARE = 0.02;
/**
 * Processor time of busy looks, one behind the other, that is worth optimising for, milliseconds. The connection of an agent and
 * the collection of what the start has left take less.
 */
const WORTH_MS = 300;

/**
 * To be called before the modules of a node are loaded: what V8 has optimised already stays as it is. V8 optimises nothing before
 * {@link optimiseWhileBusy} finds the process busy: a start runs much code and none of it for long, and the pages of the
 * compilers would stay in memory.
 */
export function optimiseLess(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
  if (COUNTS_BYTES.test(process.versions.node)) {
    setFlagsFromString(`--interrupt-budget=${BYTES_BEFORE_OPTIMISING}`);
    setFlagsFromString(`--bytecode-size-allowance-per-tick=${BYTES_FOR_ANOTHER_LOOK}`);
  }
  setCompilers(false);
}

export interface OptimisationOptions {
  /** Default: that of this process. */
  readonly processorTime?: ProcessorTime;
  readonly setOptimising?: (isOn: boolean) => void;
  /** Time between two looks, milliseconds. Default: 1 s. */
  readonly lookMs?: number;
  /** Called once with what to call whenever work begins that need not be looked for, such as a run. */
  readonly whenWorkBegins?: (begins: () => void) => void;
}

/**
 * Lets V8 optimise functions only while the process is busy, which it is not yet. V8 counts how much a function has run, over
 * whatever time: what an idle node does each second would be optimised within its first minutes, and that costs more than it
 * ever saves. Work that begins is not waited for: a node whose functions are optimised a second later takes up to 1.4 times the
 * processor time for its first 1,500 runs. The answer ends the looks; idempotent.
 */
export function optimiseWhileBusy({
  processorTime,
  setOptimising = setCompilers,
  lookMs = LOOK_MS,
  whenWorkBegins = () => {},
}: OptimisationOptions = {}): Cancel {
  let isOptimising = false;
  let workedMs = 0;
  const optimise = (isWorth: boolean): void => {
    if (isWorth === isOptimising) return;
    isOptimising = isWorth;
    setOptimising(isWorth);
  };
  const cancel = watchProcessorShare(
    lookMs,
    (share, tookMs) => {
      workedMs = share < BUSY_SHARE ? 0 : workedMs + tookMs;
      optimise(workedMs > 0 && (isOptimising || workedMs >= WORTH_MS));
    },
    processorTime,
  );
  whenWorkBegins(() => optimise(true));
  return () => {
    cancel();
    optimise(true);
  };
}

/** {@link optimiseWhileBusy} for a node, whose work begins with each run that it creates. */
export function optimiseForRuns(begunRuns: Pick<BegunRuns, "listenSent"> | undefined): Cancel {
  return optimiseWhileBusy({ whenWorkBegins: (begins) => begunRuns?.listenSent(begins) });
}

/** Changes nothing in a process that may not compile at all. */
function setCompilers(isOn: boolean): void {
  const prefix = isOn ? "--" : "--no-";
  setFlagsFromString(`${prefix}turbofan`);
  if (HAS_MAGLEV) setFlagsFromString(`${prefix}maglev`);
}
