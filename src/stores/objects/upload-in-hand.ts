/**
 * An incomplete blob on its way into the object storage, as one process knows it: the parts that are stored, and the
 * newest pieces in memory, which are too few for a part.
 */
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import type { StoredPart } from "./object-client.ts";

/** Some storages want parts of one size, and all want at least 5 MiB, except for the last part. */
export const PART_BYTES = 32 * PIECE_BYTES;
/** The most parts that an upload may have. Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const MAX_PARTS = 10_000;
/** The largest blob, bytes. */
export const MAX_OBJECT_BYTES = MAX_PARTS * PART_BYTES;

export class UploadInHand {
  /** Absent while nothing is stored as a part. */
  uploadId: string | undefined;
  readonly parts: StoredPart[] = [];
  readonly #pieces: Uint8Array[] = [];
  #heldBytes = 0;
  /** The offset up to which another process would find the content: in parts, or staged. */
  stagedBytes = 0;

  /** The offset behind the parts. */
  get partBytes(): number {
    return this.parts.length * PART_BYTES;
  }

  /** The offset behind all that is known. */
  get end(): number {
    return this.partBytes + this.#heldBytes;
  }

  get isPartFull(): boolean {
    return this.#heldBytes >= PART_BYTES;
  }

  /** Takes the bytes that follow, of at most one piece or of several. The caller may use the memory again. */
  hold(bytes: Uint8Array): void {
    this.#pieces.push(new Uint8Array(bytes));
    this.#heldBytes += bytes.length;
  }

  /** The bytes behind the parts; with `from`, those from this offset of the blob on. */
  held(from = this.partBytes): Uint8Array {
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    return all.subarray(from - this.partBytes);
  }

  /** What is held has become a part. */
  becamePart(part: StoredPart): void {
    this.#pieces.length = 0;
    this.#heldBytes = 0;
    this.parts.push(part);
    this.stagedBytes = Math.max(this.stagedBytes, this.partBytes);
  }
}

/** The first parts of an upload that are whole and follow each other. */
export function wholeParts(parts: readonly StoredPart[]): readonly StoredPart[] {
  const bad = parts.findIndex(({ number, sizeBytes }, at) => number !== at + 1 || sizeBytes !== PART_BYTES);
  return bad === -1 ? parts : parts.slice(0, bad);
}
