/**
 * Content of an upload on its way into the store: cut into pieces, resumed after a break, and read once more at the end
 * for its checksum and its type. A later call takes the upload over from an earlier one, whose caller may be gone.
 */
import { createHash, randomUUID } from "node:crypto";
import { PIECE_BYTES, SNIFFED_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { StoredContent, UploadRecord } from "../../stores/ports/uploads.ts";
import type { ContentContext } from "./context.ts";
import { readBlob } from "./content.ts";
import { recognise } from "./upload-type.ts";

type IngestContext = Pick<ContentContext, "clock" | "uploadRules"> & {
  readonly stores: Pick<ContentContext["stores"], "uploads" | "blobs">;
};

/** The most bytes that the content may have, and whether it must have exactly as many. */
interface Length {
  readonly bytes: number;
  readonly isExact: boolean;
}

/** One call that sends content. Calls of its methods must not overlap. */
export class UploadIngest {
  readonly #context: IngestContext;
  readonly #upload: UploadRecord;
  readonly #writer: string;
  readonly #length: Length;
  /** Bytes that came and make no whole piece yet. */
  #rest: Buffer = Buffer.alloc(0);
  #storedBytes: number;

  private constructor(
    context: IngestContext,
    upload: UploadRecord,
    writer: string,
    length: Length,
    storedBytes: number,
  ) {
    this.#context = context;
    this.#upload = upload;
    this.#writer = writer;
    this.#length = length;
    this.#storedBytes = storedBytes;
  }

  /** Takes over an upload of announced size. Throws `conflict` when it is complete, or being deleted. */
  static async resume(context: IngestContext, upload: UploadRecord): Promise<UploadIngest> {
    const writer = randomUUID();
    const { uploadId, sizeBytes } = upload;
    const expiresAt = context.clock.now() + context.uploadRules.unfinishedMs;
    if (!(await context.stores.uploads.takeOver(uploadId, writer, expiresAt))) throw notOpen(upload);
    const length = { bytes: sizeBytes, isExact: true };
    return new UploadIngest(context, upload, writer, length, await storedBytesOf(context, upload));
  }

  /** For content that comes in one call, of at most `maxBytes`. */
  static whole(context: IngestContext, upload: UploadRecord, maxBytes: number): UploadIngest {
    return new UploadIngest(context, upload, upload.writer, { bytes: maxBytes, isExact: false }, 0);
  }

  /** The offset from which the next call continues. */
  get storedBytes(): number {
    return this.#storedBytes;
  }

  /**
   * Takes further bytes, and stores the whole pieces among them. Throws `payload_too_large` for more bytes than the content
   * may have, and `conflict` when another call has taken the upload over.
   */
  async append(bytes: Uint8Array): Promise<void> {
    const { bytes: limit } = this.#length;
    if (this.#storedBytes + this.#rest.length + bytes.length > limit) {
      throw new MillraceError("payload_too_large", `the content has more than ${limit} bytes`);
    }
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= PIECE_BYTES) await this.#put(PIECE_BYTES);
  }

  /**
   * Answers the stored upload when all bytes have come, else undefined; then the rest that makes no whole piece is dropped.
   * Throws `conflict` when the content is not the announced one: it is dropped, and is to be sent again. `record` calls `store`
   * and records the change with it.
   */
  async end(
    record: (stored: UploadRecord, store: () => Promise<boolean>) => Promise<boolean>,
  ): Promise<UploadRecord | undefined> {
    const sizeBytes = this.#storedBytes + this.#rest.length;
    if (this.#length.isExact && sizeBytes < this.#length.bytes) return undefined;
    if (this.#rest.length > 0) await this.#put(this.#rest.length);
    const { stores, clock, uploadRules } = this.#context;
    const { uploadId, sha256 } = this.#upload;
    await this.#requireWriter();
    // An object storage has nothing to read before that. Until its record says that it is stored, no one else reads it.
    if (sizeBytes > 0 && (await stores.blobs.complete(uploadId, sizeBytes)) === "incomplete") throw gone(this.#upload);
    const found = await this.#examine(sizeBytes);
    if (sha256 !== "" && sha256 !== found.sha256) {
      await this.#requireWriter();
      await stores.blobs.delete(uploadId);
      const text = `the content has the SHA-256 ${found.sha256}, and ${sha256} was announced: it is dropped; send it again`;
      throw new MillraceError("conflict", text);
    }
    const now = clock.now();
    const expiresAt = now + uploadRules.retentionMs;
    const stored: UploadRecord = { ...this.#upload, ...found, state: "stored", usedAt: now, expiresAt };
    const store = () => stores.uploads.store({ uploadId, writer: this.#writer }, found, now, expiresAt);
    if (!(await record(stored, store))) throw takenOver();
    return stored;
  }

  /** Stores what was appended so that another node can continue: for a call that ends before all has come. */
  flush(): Promise<void> {
    return this.#context.stores.blobs.flush(this.#upload.uploadId);
  }

  async #put(length: number): Promise<void> {
    await this.#requireWriter();
    const piece = this.#rest.subarray(0, length);
    const { uploadId } = this.#upload;
    if ((await this.#context.stores.blobs.put(uploadId, this.#storedBytes, piece)) === "gap") throw gone(this.#upload);
    this.#storedBytes += length;
    this.#rest = this.#rest.subarray(length);
  }

  /** Reads the content from the store, since the stored bytes are the ones that have to be right. */
  async #examine(sizeBytes: number): Promise<StoredContent> {
    const { uploadId, name, type } = this.#upload;
    const hash = createHash("sha256");
    let head: Uint8Array | undefined;
    const content = { blobId: uploadId, what: `upload ${JSON.stringify(name)}` };
    for await (const piece of readBlob(this.#context.stores.blobs, content, 0, sizeBytes)) {
      head ??= Uint8Array.from(piece.subarray(0, SNIFFED_BYTES));
      hash.update(piece);
    }
    return { sizeBytes, sha256: hash.digest("hex"), ...(await recognise(type, head ?? new Uint8Array())) };
  }

  async #requireWriter(): Promise<void> {
    const found = await this.#context.stores.uploads.find(this.#upload.uploadId);
    if (found === undefined || found.state !== "uploading") throw notOpen(this.#upload);
    if (found.writer !== this.#writer) throw takenOver();
  }
}

/** The offset from which an upload continues. */
export async function storedBytesOf(
  { stores }: Pick<IngestContext, "stores">,
  { uploadId, state, sizeBytes }: UploadRecord,
): Promise<number> {
  if (state === "stored") return sizeBytes;
  return Math.min(sizeBytes, await stores.blobs.storedBytes(uploadId));
}

function notOpen({ uploadId }: UploadRecord): MillraceError {
  return new MillraceError("conflict", `upload ${uploadId} is complete or deleted: it takes no more content`);
}

function takenOver(): MillraceError {
  return new MillraceError("conflict", "another call sends this upload now: ask for its offset before the next call");
}

function gone({ uploadId }: UploadRecord): MillraceError {
  return new MillraceError("unavailable", `what was stored of upload ${uploadId} before is gone: ask for its offset`);
}
