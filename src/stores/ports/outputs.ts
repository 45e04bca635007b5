/**
 * The port of step outputs: values that later steps read. They never change and are stored before the snapshot that
 * refers to them.
 */
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/plan.ts";

/** The outputs that one attempt of a step wrote. `stepRunId` and `token` are the key. */
export interface StepOutputs {
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
  /** The fencing token of the report. The outputs of a stale agent have another token, so no step reads them. */
  readonly token: number;
  /**
   * By name, at most 64 kB together. Pairs, not an object, because a store may read dots and dollar signs in a key as a
   * path.
   */
  readonly values: Pairs<string>;
}

export interface OutputStore {
  /**
   * Stores the outputs. Answers `full`, and stores nothing, when the outputs of the run would exceed `runBytes`
   * together. Calls at the same moment may exceed the bound together, because none sees the others. A repeat of the key
   * answers `stored` and changes nothing, even with other values: the first ones stay.
   */
  put(outputs: StepOutputs, runBytes: number): Promise<"stored" | "full">;
  /** The stored outputs of these keys, in no particular order. A key without outputs has no entry. */
  find(keys: readonly Pick<StepOutputs, "stepRunId" | "token">[]): Promise<readonly StepOutputs[]>;
}
