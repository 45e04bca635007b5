/**
 * Content of artifacts and cache entries on its way into the store and out of it: in pieces, resumed after a break,
 * compared with its checksums at the end.
 */
import { createHash } from "node:crypto";
import { type ArtifactFile, FileCutter, PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { BlobStore } from "../../stores/ports/blobs.ts";

export interface Content {
  readonly blobId: string;
  /** Its name in errors, such as `artifact "build"`. */
  readonly what: string;
  readonly sizeBytes: number;
}

/** Content with checksums: a list of files, one after the other. */
export interface CheckedContent extends Content {
  readonly files: readonly Pick<ArtifactFile, "path" | "sizeBytes" | "sha256">[];
}

/** One stream of pieces into the store. Calls must not overlap. */
export class ContentIngest {
  readonly #blobs: BlobStore;
  readonly #content: CheckedContent;
  /** Bytes that an earlier stream had stored. */
  readonly #inherited: number;
  #storedBytes: number;

  private constructor(blobs: BlobStore, content: CheckedContent, storedBytes: number) {
    this.#blobs = blobs;
    this.#content = content;
    this.#inherited = this.#storedBytes = storedBytes;
  }

  /** Resumes after the bytes that are stored already; `isStored` says that all of them are. */
  static async resume(blobs: BlobStore, content: CheckedContent, isStored: boolean): Promise<ContentIngest> {
    const { blobId, sizeBytes } = content;
    const storedBytes = isStored ? sizeBytes : Math.min(sizeBytes, await blobs.storedBytes(blobId));
    return new ContentIngest(blobs, content, storedBytes);
  }

  /** Bytes that are stored: the offset from which the sender continues. */
  get storedBytes(): number {
    return this.#storedBytes;
  }

  /**
   * Stores a piece of the content; a piece that is stored already changes nothing. Throws `malformed_request` for a
   * piece of another size or one that leaves a gap, `unavailable` when earlier pieces are gone from the store.
   */
  async append(offset: number, piece: Uint8Array): Promise<void> {
    const { blobId, sizeBytes } = this.#content;
    const length = Math.min(PIECE_BYTES, sizeBytes - offset);
    if (offset % PIECE_BYTES !== 0 || offset > this.#storedBytes || length <= 0 || piece.length !== length) {
      const expected = `whole pieces of ${PIECE_BYTES} bytes in order, from ${this.#storedBytes} on to ${sizeBytes}`;
      throw new MillraceError("malformed_request", `${piece.length} bytes at ${offset} are no piece: send ${expected}`);
    }
    if (offset < this.#storedBytes) return;
    if ((await this.#blobs.put(blobId, offset, piece)) === "gap") throw unavailable("what was stored before is gone");
    this.#storedBytes = offset + length;
  }

  /** Stores what was appended so that another node can continue: for a stream that ends before all has come. */
  flush(): Promise<void> {
    return this.#blobs.flush(this.#content.blobId);
  }

  /** Throws `malformed_request` unless all pieces are stored. */
  requireAll(): void {
    const { what, sizeBytes } = this.#content;
    if (this.#storedBytes === sizeBytes) return;
    const text = `${this.#storedBytes} of ${sizeBytes} bytes of ${what} are there: send the others first`;
    throw new MillraceError("malformed_request", text);
  }

  /**
   * Makes the stored content durable and compares it with its checksums. Answers the path of the first file that
   * differs, or undefined. Throws `unavailable` when the bytes of an earlier stream may be the ones that differ: the
   * content is then deleted, and the agent sends all of it again. Idempotent.
   */
  async complete(): Promise<string | undefined> {
    const { blobId, sizeBytes } = this.#content;
    // An object storage has nothing to read before that. Until its record says that it is stored, no one else reads it.
    if (sizeBytes > 0 && (await this.#blobs.complete(blobId, sizeBytes)) === "incomplete") {
      throw unavailable("what was stored before is gone");
    }
    const changed = await this.#changedFile();
    if (changed !== undefined && this.#inherited > 0) {
      // The store may have lost bytes by a power loss or a restored backup. Only content of a single stream proves the
      // sender wrong.
      await this.#blobs.delete(blobId);
      throw unavailable("what was stored before is not what it was");
    }
    return changed;
  }

  /** Reads the content from the store, since the stored bytes are the ones that have to be right. */
  async #changedFile(): Promise<string | undefined> {
    const { files, sizeBytes } = this.#content;
    const cutter = new FileCutter(files);
    let hash = createHash("sha256");
    for await (const piece of readBlob(this.#blobs, this.#content, 0, sizeBytes)) {
      for (const { index, bytes, isLast } of cutter.cut(piece)) {
        hash.update(bytes);
        if (!isLast) continue;
        if (hash.digest("hex") !== files[index]!.sha256) return files[index]!.path;
        hash = createHash("sha256");
      }
    }
    return undefined;
  }
}

/**
 * `length` bytes of the content from offset `from`, in one or more chunks; a chunk may be empty. Throws `not_found`
 * when the content is gone.
 */
export async function* readBlob(
  blobs: BlobStore,
  { blobId, what }: Pick<Content, "blobId" | "what">,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  let left = length;
  // What fits into a piece needs no stream, whose connection would wait for a reader that may be gone.
  const isStreamed = blobs.objects !== undefined && length > PIECE_BYTES;
  const chunks = isStreamed ? blobs.objects.stream(blobId, from, length) : readPieces(blobs, blobId, from, length);
  for await (const chunk of chunks) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new MillraceError("not_found", `the content of ${what} (${blobId}) is gone`);
}

/** Ends early where the content ends. */
async function* readPieces(
  blobs: BlobStore,
  blobId: string,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  let [offset, left] = [from, length];
  do {
    // Up to the next stored piece.
    const count = Math.min(left, PIECE_BYTES - (offset % PIECE_BYTES));
    const bytes = await blobs.read(blobId, offset, count);
    if (bytes.length < count) return;
    yield bytes;
    offset += count;
    left -= count;
  } while (left > 0);
}

function unavailable(why: string): MillraceError {
  return new MillraceError("unavailable", `${why}: begin again`);
}
