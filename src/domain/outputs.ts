/** What steps have written for later ones, as those who read it ask for it. */
import type { StepRunId } from "./ids.ts";
import type { Pairs } from "./plan.ts";

/** What one step may write: how many names, and bytes of names and values in all; and bytes of all steps of a run. */
export const OUTPUT_BOUNDS = { count: 256, bytes: 65_536, runBytes: 1_048_576 } as const;

/** As the bounds count: names and values in UTF-8. */
export function bytesOf(values: Pairs<string>): number {
  return values.reduce((sum, pair) => sum + Buffer.byteLength(pair.join("")), 0);
}

/** The outputs of one step run as the holder of a fencing token reported them. */
export interface OutputsKey {
  readonly stepRunId: StepRunId;
  readonly token: number;
}

/** Throws {@link MissingOutputs} for what has not been fetched. */
export type OutputsReader = (key: OutputsKey) => Pairs<string>;

/** Thrown amid a decision that needs what has not been fetched: it is fetched, and all is decided again from the start. */
export class MissingOutputs extends Error {
  readonly keys: readonly OutputsKey[];

  constructor(keys: readonly OutputsKey[]) {
    super(`the outputs of ${keys.length} steps are needed`);
    this.keys = keys;
  }
}
