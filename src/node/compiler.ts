/** How V8 optimises the code of a node. */
import { setFlagsFromString } from "node:v8";

/**
 * Bytecode of callees that one optimised function may take in; V8's default is 920. A node runs much code seldom, not little
 * code often. With the default, the optimising compiler takes a third of the CPU of the first thousands of runs, mostly because
 * it compiles the same callees again into each of their callers.
 */
const INLINED_BYTES = 300;

/** To be called early: what V8 has optimised already stays as it is. */
export function inlineLess(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
}
