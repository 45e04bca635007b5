/** What steps have written for later ones: immutable documents, stored before the snapshot that knows of them. */
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/plan.ts";

/** What one attempt of a step has written; known by `stepRunId` and `token`. */
export interface StepOutputs {
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
  /** The fencing token under which it was reported: what a stale agent says is kept apart, and never read. */
  readonly token: number;
  /** In the order of their names; 64 kB in all at most. Kept as pairs: a name may hold what is a path to a store. */
  readonly values: Pairs<string>;
}

export interface OutputStore {
  /**
   * `full`, and nothing is stored, when the outputs of the run would have more than `runBytes` with these; of some that come at
   * once, each may find room that the others take. A repeat changes nothing, also when it says something else: the first
   * one stays, and that is what is answered.
   */
  put(outputs: StepOutputs, runBytes: number): Promise<"stored" | "full">;
  /** Of these, those that are there, in no certain order. */
  find(keys: readonly Pick<StepOutputs, "stepRunId" | "token">[]): Promise<readonly StepOutputs[]>;
}
