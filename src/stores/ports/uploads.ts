/**
 * The port of uploads: files that users send to a project, and the runs that use them. The content is stored in the
 * {@link BlobStore} under the id of the upload. The content of a stored upload never changes.
 */
import type { ProjectId, RunId, UploadId } from "../../domain/ids.ts";
import type { ListKey, Page } from "./pages.ts";

/**
 * `uploading` until the content is complete; then `stored`. `deleting` from the decision to delete it until its content
 * is gone.
 */
export type UploadState = "uploading" | "stored" | "deleting";

export interface UploadRecord {
  readonly uploadId: UploadId;
  readonly projectId: ProjectId;
  /** The name of the file, without a path. */
  readonly name: string;
  /** The media type that its sender declares. */
  readonly type: string;
  readonly state: UploadState;
  /** What its sender announces; of a stored upload, the size of the content. */
  readonly sizeBytes: number;
  /** SHA-256, hexadecimal: what its sender announces, "" for nothing; of a stored upload, the digest of the content. */
  readonly sha256: string;
  /** The media type by which the content was recognised; null for none, and until the upload is stored. */
  readonly sniffedType: string | null;
  /** False when the content is not what `type` says. True until the upload is stored. */
  readonly typeMatches: boolean;
  /** The name of the user who began it. */
  readonly createdBy: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** When a run last took the upload as an input; at first when the upload was begun, and then when it was stored. */
  readonly usedAt: number;
  /**
   * Unix milliseconds. From then on the pruner may delete it, unless a kept run uses it. 0 while it is `deleting`.
   */
  readonly expiresAt: number;
  /** The call that sends the content. A later call takes the upload over, and the earlier one stops. */
  readonly writer: string;
}

/** What is known of the content once it is complete. */
export type StoredContent = Pick<UploadRecord, "sizeBytes" | "sha256" | "sniffedType" | "typeMatches">;

/** The use of an upload by a run. */
export interface UploadUse {
  readonly runId: RunId;
  /** When the run was begun, Unix milliseconds. */
  readonly at: number;
}

export interface UploadStore {
  /** Stores a new record, of which the id is fresh. */
  begin(record: UploadRecord): Promise<void>;
  find(uploadId: UploadId): Promise<UploadRecord | undefined>;
  /** Makes `writer` the only writer of an upload that is `uploading`. False when it is in another state or missing. */
  takeOver(uploadId: UploadId, writer: string, expiresAt: number): Promise<boolean>;
  /**
   * Moves the upload from `uploading` to `stored`. False when it is in another state or missing, or has another writer, so a
   * repeat answers false.
   */
  store(
    upload: Pick<UploadRecord, "uploadId" | "writer">,
    content: StoredContent,
    at: number,
    expiresAt: number,
  ): Promise<boolean>;
  /** The uploads of a project that are not `deleting`, the newest first (id as tie-break), behind a place. */
  list(projectId: ProjectId, limit: number, after: ListKey | undefined): Promise<Page<UploadRecord>>;
  /** The uploads of a project in any state, and the bytes of all of them. */
  amountOf(projectId: ProjectId): Promise<{ readonly count: number; readonly bytes: number }>;
  /**
   * Records that a run uses an upload of the project. False, and nothing is recorded, unless the upload is `stored`.
   * Idempotent. A pruner that saw the upload without the use does not delete it.
   */
  use(upload: Pick<UploadRecord, "uploadId" | "projectId">, use: UploadUse, expiresAt: number): Promise<boolean>;
  /** The uses of an upload, the latest first, at most `limit`. */
  usesOf(uploadId: UploadId, limit: number): Promise<readonly UploadUse[]>;
  dropUse(uploadId: UploadId, runId: RunId): Promise<void>;
  /** Drops the uses of all uploads by a run. */
  forgetRun(runId: RunId): Promise<void>;
  /**
   * Uploads whose `expiresAt` is at or before `now`, earliest first, at most `limit`. Those that are `deleting` come first.
   */
  expired(now: number, limit: number): Promise<readonly UploadRecord[]>;
  /** Sets when the pruner looks at an upload again. Changes nothing while it is `deleting`. */
  extend(uploadId: UploadId, expiresAt: number): Promise<void>;
  /**
   * Moves the upload to `deleting`, unless it was used after `usedBy`. True when it is `deleting` now, so a repeat answers
   * true.
   */
  markDeleting(uploadId: UploadId, usedBy: number): Promise<boolean>;
  /** Removes an upload that is `deleting`, and its uses, and no other. The caller deletes the content before. */
  remove(uploadId: UploadId): Promise<void>;
}
