/** The port of the images of runs: to which digest a run has resolved a reference, the first time. */
import type { RunId } from "../../domain/ids.ts";

export interface RunImage {
  readonly runId: RunId;
  /** The reference as the dispatch has it. */
  readonly image: string;
  /** `sha256:` and hexadecimal digits. */
  readonly digest: string;
}

export interface RunImageStore {
  /** Stores the digest unless the run has one for this reference. Answers the digest that the run has. */
  pin(image: RunImage): Promise<string>;
  /** All of a run, in no particular order. */
  of(runId: RunId): Promise<readonly RunImage[]>;
}
