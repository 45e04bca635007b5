/** Content on its way into the store and out of it, whatever it is: in pieces, gone on with after any break, compared at the end. */
import { createHash } from "node:crypto";
import { type ArtifactFile, FileCutter, PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { BlobStore } from "../../stores/ports/blobs.ts";

export interface Content {
  readonly blobId: string;
  /** What it is, for people: `artifact "build"`. */
  readonly what: string;
  readonly sizeBytes: number;
}

/** What is begun with checksums: a list of files, one after the other. */
export interface CheckedContent extends Content {
  readonly files: readonly Pick<ArtifactFile, "path" | "sizeBytes" | "sha256">[];
}

/** One stream of pieces; call one method after the other. */
export class ContentIngest {
  readonly #blobs: BlobStore;
  readonly #content: CheckedContent;
  /** What an earlier stream had stored. */
  readonly #inherited: number;
  #storedBytes: number;

  private constructor(blobs: BlobStore, content: CheckedContent, storedBytes: number) {
    this.#blobs = blobs;
    this.#content = content;
    this.#inherited = this.#storedBytes = storedBytes;
  }

  /** Goes on with what is stored already; `isStored` says that all of it is. */
  static async resume(blobs: BlobStore, content: CheckedContent, isStored: boolean): Promise<ContentIngest> {
    const { blobId, sizeBytes } = content;
    const storedBytes = isStored ? sizeBytes : Math.min(sizeBytes, await blobs.storedBytes(blobId));
    return new ContentIngest(blobs, content, storedBytes);
  }

  /** From where on the sender goes on. */
  get storedBytes(): number {
    return this.#storedBytes;
  }

  /**
   * Stores a piece of the content; one that is there already changes nothing. Throws `malformed_request` for one that
   * does not follow, `unavailable` when it cannot be stored now.
   */
  async append(offset: number, piece: Uint8Array): Promise<void> {
    const { blobId, sizeBytes } = this.#content;
    const length = Math.min(PIECE_BYTES, sizeBytes - offset);
    if (offset % PIECE_BYTES !== 0 || offset > this.#storedBytes || length <= 0 || piece.length !== length) {
      const wanted = `whole pieces of ${PIECE_BYTES} bytes in order, from ${this.#storedBytes} on to ${sizeBytes}`;
      throw new MillraceError("malformed_request", `${piece.length} bytes at ${offset} are no piece: send ${wanted}`);
    }
    if (offset < this.#storedBytes) return;
    if ((await this.#blobs.put(blobId, offset, piece)) === "gap") throw unavailable("what was stored before is gone");
    this.#storedBytes = offset + length;
  }

  /** Throws `malformed_request` unless all pieces have come. */
  requireAll(): void {
    const { what, sizeBytes } = this.#content;
    if (this.#storedBytes === sizeBytes) return;
    const text = `${this.#storedBytes} of ${sizeBytes} bytes of ${what} are there: send the others first`;
    throw new MillraceError("malformed_request", text);
  }

  /**
   * Compares all with the checksums that it was begun with, and puts it on disk; answers the path of the first file that
   * differs, or undefined. Throws `unavailable` when what differs may be what an earlier stream left: it is to be sent again
   * as a whole. Idempotent.
   */
  async complete(): Promise<string | undefined> {
    const { blobId, sizeBytes } = this.#content;
    const changed = await this.#changedFile();
    if (changed !== undefined && this.#inherited > 0) {
      // A machine that lost its power, or a backup: only what comes in one stream says that the sender is wrong.
      await this.#blobs.delete(blobId);
      throw unavailable("what was stored before is not what it was");
    }
    if (changed !== undefined) return changed;
    if (sizeBytes > 0 && (await this.#blobs.complete(blobId, sizeBytes)) === "incomplete") {
      throw unavailable("what was stored before is gone");
    }
    return undefined;
  }

  /** Reads what is stored, and not what came: that is what has to be right. */
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

/** A part of the content, in at least one piece, which may be empty. Throws `not_found` when it is not there. */
export async function* readBlob(
  blobs: BlobStore,
  { blobId, what }: Pick<Content, "blobId" | "what">,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  let [offset, left] = [from, length];
  do {
    // Up to where the next piece of what is stored begins.
    const wanted = Math.min(left, PIECE_BYTES - (offset % PIECE_BYTES));
    const bytes = await blobs.read(blobId, offset, wanted);
    if (bytes.length < wanted) throw new MillraceError("not_found", `the content of ${what} (${blobId}) is gone`);
    yield bytes;
    offset += wanted;
    left -= wanted;
  } while (left > 0);
}

function unavailable(why: string): MillraceError {
  return new MillraceError("unavailable", `${why}: begin again`);
}
