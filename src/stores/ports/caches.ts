/**
 * Cache entries of projects: one record for each key and version, whose content lies in the {@link BlobStore} under an id of its
 * own. What is stored under a key never changes; a key whose entry was deleted may be given another one.
 */
import type { CacheId, ProjectId, RunId } from "../../domain/ids.ts";
import type { Page } from "./aggregates.ts";

/** `uploading` until its content is complete; `deleting` from when it is given up on until nothing of it is left. */
export type CacheState = "uploading" | "stored" | "deleting";

export interface CacheRecord {
  /** Derived from project, version and key. */
  readonly cacheId: CacheId;
  readonly projectId: ProjectId;
  readonly key: string;
  /** What `cacheVersion` makes of its paths. */
  readonly version: string;
  /** The run that made it. */
  readonly runId: RunId;
  /** Of one upload: another one under the same key has another blob. */
  readonly blobId: string;
  readonly state: CacheState;
  readonly sizeBytes: number;
  /** Of the content, hexadecimal. */
  readonly sha256: string;
  /** When it was begun, and from its storing on when that was; Unix milliseconds. */
  readonly createdAt: number;
  /** When a step was given it last; at first as `createdAt`. */
  readonly usedAt: number;
  /** From then on nobody is given it, and the sweeper may delete it; of an upload, when nobody goes on with it any more. */
  readonly expiresAt: number;
}

export interface CacheStore {
  /** Stores the record of an upload and answers it, or the one that its key has already, whatever its state. */
  begin(record: CacheRecord): Promise<CacheRecord>;
  /** From `uploading` to `stored`; false when that upload is in another state or gone. */
  store(upload: Pick<CacheRecord, "cacheId" | "blobId">, at: number, expiresAt: number): Promise<boolean>;
  find(cacheId: CacheId): Promise<CacheRecord | undefined>;
  /** The newest that is stored whose key begins so and that expires after `now`. */
  newest(of: Pick<CacheRecord, "projectId" | "version">, prefix: string, now: number): Promise<CacheRecord | undefined>;
  /** A step was given it; nothing happens when it is not stored (any more). */
  touch(entry: Pick<CacheRecord, "cacheId" | "blobId">, usedAt: number, expiresAt: number): Promise<void>;
  /** Those that are stored, whose key begins so, the last used first (id as tie-break). */
  list(
    projectId: ProjectId,
    prefix: string,
    page: { readonly page: number; readonly pageSize: number },
  ): Promise<Page<CacheRecord>>;
  /** Those that expire at or before `now`, and all that are being deleted, at most `limit`, the oldest first. */
  expired(now: number, limit: number): Promise<readonly CacheRecord[]>;
  /**
   * What has to go so that no project has more than `bytes` stored: all but its last used entries that have no more in all. The
   * longest unused first, at most `limit`.
   */
  beyond(bytes: number, limit: number): Promise<readonly CacheRecord[]>;
  /** To `deleting`, unless it was used after `usedBy`; true when it is in that state now. */
  condemn(entry: Pick<CacheRecord, "cacheId" | "blobId">, usedBy: number): Promise<boolean>;
  /** Forgets one that is being deleted; call when its content is gone. */
  remove(entry: Pick<CacheRecord, "cacheId" | "blobId">): Promise<void>;
}
