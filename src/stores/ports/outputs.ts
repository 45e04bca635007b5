/**
 * The ports of what steps leave beside their logs: outputs, which are values that later steps read, notes for people, and the
 * images that they have found. None ever changes. Outputs and notes are stored before the snapshot that has the end of the step.
 */
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/pairs.ts";

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

/** `tests` is the overview of a step's test reports, and `cases` are their test cases, in several parts. */
export const NOTE_KINDS = ["annotations", "summary", "tests", "cases"] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];

export interface NoteKey {
  readonly runId: RunId;
  readonly kind: NoteKind;
  readonly stepRunId: StepRunId;
  /** The fencing token of the grant. The notes of a stale agent have another token, so no reader sees them. */
  readonly token: number;
  /** From 0 on; 0 for a note in one part. */
  readonly part: number;
}

export interface StoredNote extends NoteKey {
  /** JSON text of at most 2 MB. */
  readonly body: string;
}

/** The size of a note is that of its body in UTF-8. */
export interface NotePlace extends NoteKey {
  readonly bytes: number;
}

export interface NoteStore {
  /**
   * Answers `full`, and stores nothing, when the notes of this kind of the run would exceed `runBytes` together. Calls at
   * the same moment may exceed the bound together. A repeat of the key answers `stored` and changes nothing.
   */
  put(note: StoredNote, runBytes: number): Promise<"stored" | "full">;
  /** The notes of one kind of a run, without their bodies, in no particular order. */
  placesOf(runId: RunId, kind: NoteKind): Promise<readonly NotePlace[]>;
  /** Those of the notes that are stored, in no particular order. */
  find(keys: readonly NoteKey[]): Promise<readonly StoredNote[]>;
}

/** To which digest a run has resolved the reference of an image, the first time. */
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
