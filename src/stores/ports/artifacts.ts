/**
 * The port of artifacts: one record for each artifact. Its content is stored in the {@link BlobStore} under the same
 * id.
 */
import type { ArtifactFile } from "../../domain/artifacts.ts";
import type { ArtifactId, RunId, StepRunId } from "../../domain/ids.ts";

/**
 * `uploading` until the content is complete; then `stored`. `deleting` from the decision to delete it until its content
 * is gone.
 */
export type ArtifactState = "uploading" | "stored" | "deleting";

/** An artifact without the list of its files, which may be long. */
export interface ArtifactSummary {
  readonly artifactId: ArtifactId;
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
  /** The fencing token of the grant under which the step uploaded it. */
  readonly token: number;
  readonly name: string;
  readonly state: ArtifactState;
  readonly sizeBytes: number;
  readonly fileCount: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** When its content was complete, Unix milliseconds; null before. */
  readonly storedAt: number | null;
  /**
   * Unix milliseconds. From then on no caller receives a stored artifact, and the pruner may delete it. For an upload:
   * when the pruner checks whether the step still uploads. 0 while it is `deleting`.
   */
  readonly expiresAt: number;
}

export interface ArtifactRecord extends ArtifactSummary {
  /** The files, in the order in which the content holds them. */
  readonly files: readonly ArtifactFile[];
}

export interface ArtifactStore {
  /**
   * Stores the record of an upload and answers it. When the id is taken, answers the stored record, in any state.
   * Answers `full`, and stores nothing, when the artifacts of the run would exceed `runBytes` together. Uploads that
   * begin at the same moment may exceed the bound together, because none sees the others.
   */
  begin(record: ArtifactRecord, runBytes: number): Promise<ArtifactRecord | "full">;
  find(artifactId: ArtifactId): Promise<ArtifactRecord | undefined>;
  /**
   * Moves the artifact from `uploading` to `stored`. False when it is in another state or missing, so a repeat answers
   * false.
   */
  store(artifactId: ArtifactId, storedAt: number, expiresAt: number): Promise<boolean>;
  /** Sets a new `expiresAt` for an upload. Changes nothing when the artifact is in another state or missing. */
  extend(artifactId: ArtifactId, expiresAt: number): Promise<void>;
  /** The artifacts of a run in any state, by `createdAt` (id as tie-break). */
  ofRun(runId: RunId): Promise<readonly ArtifactSummary[]>;
  /** The artifacts of these steps, in the same order. */
  ofSteps(stepRunIds: readonly StepRunId[]): Promise<readonly ArtifactSummary[]>;
  /**
   * Artifacts whose `expiresAt` is at or before `now`, earliest first, at most `limit`. Those that are `deleting` come
   * first.
   */
  expired(now: number, limit: number): Promise<readonly ArtifactSummary[]>;
  /**
   * Moves the artifact to `deleting`, unless it expires after `expiredBy`. True when it is `deleting` now, so a repeat
   * answers true.
   */
  markDeleting(artifactId: ArtifactId, expiredBy: number): Promise<boolean>;
  /** Removes a record that is `deleting`, and no other. The caller deletes the content before. */
  remove(artifactId: ArtifactId): Promise<void>;
}
