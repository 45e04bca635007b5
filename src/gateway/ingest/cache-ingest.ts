/** Uploads of cache entries into the store, from agents whose job has succeeded. */
import { cacheVersion } from "../../domain/caches.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type AgentId, cacheBlobIdOf, cacheIdOf } from "../../domain/ids.ts";
import type { CacheRecord } from "../../stores/ports/caches.ts";
import { releasedCacheStep } from "./cache-steps.ts";
import { deleteCacheNow } from "../../app/content/cache-pruner.ts";
import { ContentIngest } from "../../app/content/content.ts";
import type { IngestContext } from "./context.ts";
import type { StepGrant } from "../held-step.ts";

/** An upload is kept for this long after its time is over: its last piece may be on its way to the disk. */
const LAST_PIECE_MS = 60_000;

/** The upload that an agent begins. */
export interface CacheUpload extends StepGrant {
  readonly key: string;
  readonly paths: readonly string[];
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** One stream of pieces. Calls must not overlap. */
export class CacheIngest {
  readonly #context: IngestContext;
  readonly #record: CacheRecord;
  /** When the time of the upload is over, Unix milliseconds. */
  readonly #until: number;
  readonly #content: ContentIngest;

  private constructor(context: IngestContext, record: CacheRecord, until: number, content: ContentIngest) {
    this.#context = context;
    this.#record = record;
    this.#until = until;
    this.#content = content;
  }

  /**
   * Begins an upload, or resumes one that was cut off. Throws `conflict` when the step may not upload an entry, and
   * when another job has uploaded an entry of this key or is uploading one; `too_large` for more bytes than the
   * installation allows.
   */
  static async begin(context: IngestContext, agentId: AgentId, upload: CacheUpload): Promise<CacheIngest> {
    const { stepRunId, token, key, paths, sizeBytes, sha256 } = upload;
    const { stores, cacheRules } = context;
    const most = Math.min(cacheRules.maxEntryBytes, cacheRules.maxProjectBytes);
    if (sizeBytes > most) {
      throw new MillraceError("too_large", `it has ${sizeBytes} bytes; ${most} are allowed for an entry of a cache`);
    }
    const { runId, projectId, until } = await releasedCacheStep(context, agentId, upload);
    const version = cacheVersion(paths);
    const cacheId = cacheIdOf(projectId, version, key);
    const now = context.clock.now();
    const begun: CacheRecord = {
      cacheId,
      projectId,
      key,
      version,
      runId,
      blobId: cacheBlobIdOf(cacheId, stepRunId, token, sha256),
      state: "uploading",
      sizeBytes,
      sha256,
      createdAt: now,
      usedAt: now,
      expiresAt: until + LAST_PIECE_MS,
    };
    let record = await stores.caches.begin(begun);
    if (record.state === "deleting" || record.expiresAt <= now) {
      await deleteCacheNow(stores, record);
      record = await stores.caches.begin(begun);
    }
    if (record.blobId !== begun.blobId || record.sizeBytes !== sizeBytes || record.state === "deleting") {
      const who = record.state === "stored" ? "has kept" : "is keeping";
      throw new MillraceError("conflict", `another job (run ${record.runId}) ${who} an entry of this key meanwhile`);
    }
    const files = [{ path: key, sizeBytes, sha256 }];
    const sent = { blobId: record.blobId, what: `the cache ${JSON.stringify(key)}`, sizeBytes, files };
    const content = await ContentIngest.resume(stores.blobs, sent, record.state === "stored");
    return new CacheIngest(context, record, until, content);
  }

  get id(): CacheRecord["cacheId"] {
    return this.#record.cacheId;
  }

  /** Bytes that are stored: the offset from which the agent continues. */
  get storedBytes(): number {
    return this.#content.storedBytes;
  }

  /** As {@link ContentIngest.append}; throws `conflict` when the time of the upload is over. */
  async append(offset: number, piece: Uint8Array): Promise<void> {
    if (this.#context.clock.now() >= this.#until)
      throw new MillraceError(
        "conflict",
        "the upload took too long: the time in which a job may keep an entry is over",
      );
    await this.#content.append(offset, piece);
  }

  flush(): Promise<void> {
    return this.#content.flush();
  }

  /**
   * Compares the content with its checksum, makes it durable, and completes the entry. Throws as {@link
   * ContentIngest.complete}, and `conflict` when the content differs, which also deletes the upload. Idempotent.
   */
  async commit(): Promise<void> {
    const { stores, clock, cacheRules } = this.#context;
    this.#content.requireAll();
    if (this.#record.state === "stored") return;
    if ((await this.#content.complete()) !== undefined) {
      await deleteCacheNow(stores, this.#record);
      throw new MillraceError("conflict", "the content does not have the checksum that it was begun with");
    }
    const now = clock.now();
    if (await stores.caches.store(this.#record, now, now + cacheRules.retentionMs)) return;
    const { blobId, state } = (await stores.caches.find(this.#record.cacheId)) ?? {};
    if (blobId !== this.#record.blobId || state !== "stored") throw new MillraceError("conflict", "it was given up on");
  }
}
