/** What steps have kept: one record for each artifact, whose content lies in the {@link BlobStore} under the same id. */
import type { ArtifactFile } from "../../domain/artifacts.ts";
import type { ArtifactId, RunId, StepRunId } from "../../domain/ids.ts";

/** `uploading` until its content is complete; `deleting` from when it is given up on until nothing of it is left. */
export type ArtifactState = "uploading" | "stored" | "deleting";

/** Without the list of its files, which may be long. */
export interface ArtifactSummary {
  readonly artifactId: ArtifactId;
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
  /** The fencing token under which it was kept. */
  readonly token: number;
  readonly name: string;
  readonly state: ArtifactState;
  readonly sizeBytes: number;
  readonly fileCount: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Null until it is complete. */
  readonly storedAt: number | null;
  /** From then on nobody is given it, and the sweeper may delete it; of an upload, when it is looked at whether anybody goes on with it. */
  readonly expiresAt: number;
}

export interface ArtifactRecord extends ArtifactSummary {
  /** In the order of their content. */
  readonly files: readonly ArtifactFile[];
}

export interface ArtifactStore {
  /**
   * Stores the record of an upload and answers it, or the one that has its id already, whatever its state. `full`, and
   * nothing is stored, when the artifacts of the run would have more than `runBytes` with it; of some that come at once,
   * each may find room that the others take.
   */
  begin(record: ArtifactRecord, runBytes: number): Promise<ArtifactRecord | "full">;
  find(artifactId: ArtifactId): Promise<ArtifactRecord | undefined>;
  /** From `uploading` to `stored`; false when it is in another state or gone. */
  store(artifactId: ArtifactId, storedAt: number, expiresAt: number): Promise<boolean>;
  /** Lets an upload go on until then; nothing happens to what is in another state. */
  extend(artifactId: ArtifactId, expiresAt: number): Promise<void>;
  /** By the time of their beginning (id as tie-break). */
  ofRun(runId: RunId): Promise<readonly ArtifactSummary[]>;
  ofSteps(stepRunIds: readonly StepRunId[]): Promise<readonly ArtifactSummary[]>;
  /** Those that expire at or before `now`, and all that are being deleted, at most `limit`, the oldest first. */
  expired(now: number, limit: number): Promise<readonly ArtifactSummary[]>;
  /** To `deleting`, unless it expires after `expiredBy`; true when it is in that state now. */
  condemn(artifactId: ArtifactId, expiredBy: number): Promise<boolean>;
  /** Forgets one that is being deleted; call when its content is gone. */
  remove(artifactId: ArtifactId): Promise<void>;
}
