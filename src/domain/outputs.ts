/** Outputs: values that a step writes for later steps and jobs. */
import type { StepRunId } from "./ids.ts";
import type { Pairs } from "./pairs.ts";

/**
 * `count`: names of one step. `bytes`: names and values of one step. `runBytes`: names and values of all steps of a
 * run.
 */
export const OUTPUT_BOUNDS = { count: 256, bytes: 65_536, runBytes: 1_048_576 } as const;

/** The size that the bounds count: names and values in UTF-8. */
export function bytesOf(values: Pairs<string>): number {
  return values.reduce((sum, pair) => sum + Buffer.byteLength(pair.join("")), 0);
}

/** Identifies the outputs of one step run, as the holder of this fencing token reported them. */
export interface OutputsKey {
  readonly stepRunId: StepRunId;
  readonly token: number;
}

/** Returns outputs that were fetched, and throws {@link MissingOutputs} for others. */
export type OutputsReader = (key: OutputsKey) => Pairs<string>;

/**
 * Thrown during a decision that needs outputs that were not fetched. The caller fetches them and decides again from the
 * start.
 */
export class MissingOutputs extends Error {
  readonly keys: readonly OutputsKey[];

  constructor(keys: readonly OutputsKey[]) {
    super(`the outputs of ${keys.length} steps were not fetched`);
    this.keys = keys;
  }
}
