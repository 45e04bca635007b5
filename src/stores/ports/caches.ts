/**
 * The port of caches: one entry for each key and version of a project. Its content is stored in the {@link BlobStore}
 * under an id of its own. The content of a stored entry never changes; when the entry is deleted, its key may get
 * another one.
 */
import type { CacheId, ProjectId, RunId } from "../../domain/ids.ts";
import type { Page, PlacedPageRequest } from "./pages.ts";

/**
 * `uploading` until the content is complete; then `stored`. `deleting` from the decision to delete it until its content
 * is gone.
 */
export type CacheState = "uploading" | "stored" | "deleting";

export interface CacheRecord {
  /** Derived from project, version and key. */
  readonly cacheId: CacheId;
  readonly projectId: ProjectId;
  readonly key: string;
  /** The text that `cacheVersion` derives from the cached paths. */
  readonly version: string;
  /** The run that stored the entry. */
  readonly runId: RunId;
  /** The id of the content in the blob store. Each upload has its own, also under the same key. */
  readonly blobId: string;
  readonly state: CacheState;
  readonly sizeBytes: number;
  /** SHA-256 of the content, hexadecimal. */
  readonly sha256: string;
  /** When the upload began; once the entry is stored, when it was stored. Unix milliseconds. */
  readonly createdAt: number;
  /** When a step last received the entry; at first the same as `createdAt`. */
  readonly usedAt: number;
  /**
   * Unix milliseconds. From then on no step receives a stored entry, and the pruner may delete it. For an upload: when
   * it counts as abandoned. 0 while it is `deleting`.
   */
  readonly expiresAt: number;
}

export interface CacheStore {
  /** Stores the record of an upload and answers it. When the key has an entry, answers that entry, in any state. */
  begin(record: CacheRecord): Promise<CacheRecord>;
  /**
   * Moves the entry from `uploading` to `stored`. False when this upload is in another state or missing, so a repeat
   * answers false.
   */
  store(upload: Pick<CacheRecord, "cacheId" | "blobId">, at: number, expiresAt: number): Promise<boolean>;
  find(cacheId: CacheId): Promise<CacheRecord | undefined>;
  /** The newest stored entry whose key begins with `prefix` and that expires after `now`. */
  newest(of: Pick<CacheRecord, "projectId" | "version">, prefix: string, now: number): Promise<CacheRecord | undefined>;
  /** Records that a step received the entry. Changes nothing when the entry is not `stored`. */
  touch(entry: Pick<CacheRecord, "cacheId" | "blobId">, usedAt: number, expiresAt: number): Promise<void>;
  /** The stored entries whose key begins with `prefix`, the most recently used first (id as tie-break). */
  list(projectId: ProjectId, prefix: string, page: Omit<PlacedPageRequest, "descending">): Promise<Page<CacheRecord>>;
  /**
   * Entries whose `expiresAt` is at or before `now`, earliest first, at most `limit`. Those that are `deleting` come
   * first.
   */
  expired(now: number, limit: number): Promise<readonly CacheRecord[]>;
  /**
   * The entries to delete so that each project stores at most `bytes`: of the entries of a project, the most recently
   * used ones that fit into `bytes` together stay. The longest unused first, at most `limit`.
   */
  aboveProjectBytes(bytes: number, limit: number): Promise<readonly CacheRecord[]>;
  /**
   * Moves the entry to `deleting`, unless it was used after `usedBy`. True when it is `deleting` now, so a repeat
   * answers true.
   */
  markDeleting(entry: Pick<CacheRecord, "cacheId" | "blobId">, usedBy: number): Promise<boolean>;
  /** Removes an entry that is `deleting`, and no other. The caller deletes the content before. */
  remove(entry: Pick<CacheRecord, "cacheId" | "blobId">): Promise<void>;
}
