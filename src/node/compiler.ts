/** How V8 optimises the code of a node. */
import { setFlagsFromString } from "node:v8";

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

/** Later releases have a second compiler between, which is faster, and count calls in place of bytecode. */
const COUNTS_BYTES = /^20\./;

/** To be called early: what V8 has optimised already stays as it is. */
export function optimiseLess(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
  if (COUNTS_BYTES.test(process.versions.node)) setFlagsFromString(`--interrupt-budget=${BYTES_BEFORE_OPTIMISING}`);
}
