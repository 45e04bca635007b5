/**
 * Reads the lines of cold chunks from the object storage. What was read last stays in memory, because readers take a log in
 * pages, and chunks of one log follow one another in an object.
 */
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { BlobStore } from "../ports/blobs.ts";
import {
  type ChunkHeader,
  ColdLogError,
  type ColdPlace,
  type CooledChunk,
  lastLineOf,
  type LogLine,
  noObjectStorage,
} from "../ports/logs.ts";
import { unpackLines } from "./log-lines.ts";

/** Pieces in memory: 8 MiB. */
const KEPT_PIECES = 32;

export class ColdChunks {
  #blobs: Pick<BlobStore, "read"> | undefined;
  /** By object and number, in the order of the last use, oldest first. */
  readonly #pieces = new Map<string, Promise<Uint8Array>>();

  /** Reads from these blobs from now on. */
  use(blobs: Pick<BlobStore, "read">): void {
    this.#blobs = blobs;
  }

  /** The lines of a chunk; one gap record when its object is gone. Rejects with a {@link ColdLogError}. */
  async linesOf(place: ColdPlace, { first, last }: Pick<ChunkHeader, "first" | "last">): Promise<readonly LogLine[]> {
    const bytes = await this.#bytesOf(place);
    if (bytes === undefined) {
      return [{ line: first, lost: last - first + 1, timeMs: 0, stream: "stderr", level: "warn", content: "" }];
    }
    return linesIn(bytes, place);
  }

  /**
   * The bytes of these chunks, null for those that are not there or are not what the chunk has. Rejects with a
   * {@link ColdLogError}.
   */
  async bodiesOf(chunks: readonly CooledChunk[]): Promise<readonly (Uint8Array | null)[]> {
    const bodies: (Uint8Array | null)[] = [];
    for (const chunk of chunks) {
      const bytes = await this.#bytesOf(chunk.place);
      bodies.push(bytes !== undefined && (await holds(bytes, chunk)) ? bytes : null);
    }
    return bodies;
  }

  async #bytesOf({ blobId, offset, bytes }: ColdPlace): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = [];
    const end = offset + bytes;
    for (let at = offset; at < end;) {
      const number = Math.floor(at / PIECE_BYTES);
      const start = number * PIECE_BYTES;
      const part = (await this.#piece(blobId, number)).subarray(at - start, end - start);
      if (part.length === 0) return undefined;
      parts.push(part);
      at += part.length;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  #piece(blobId: string, number: number): Promise<Uint8Array> {
    const key = `${blobId}/${number}`;
    const piece = this.#pieces.get(key) ?? this.#read(blobId, number * PIECE_BYTES);
    this.#pieces.delete(key);
    this.#pieces.set(key, piece);
    if (this.#pieces.size > KEPT_PIECES) this.#pieces.delete(this.#pieces.keys().next().value!);
    const forget = () => {
      if (this.#pieces.get(key) === piece) this.#pieces.delete(key);
    };
    piece.then(({ length }) => length === 0 && forget(), forget);
    return piece;
  }

  async #read(blobId: string, offset: number): Promise<Uint8Array> {
    if (this.#blobs === undefined) throw noObjectStorage();
    try {
      return await this.#blobs.read(blobId, offset, PIECE_BYTES);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      throw new ColdLogError(error.reason, `lines of the log are in the object storage: ${error.message}`, {
        cause: error,
      });
    }
  }
}

async function linesIn(
  bytes: Uint8Array,
  { compression }: Pick<ColdPlace, "compression">,
): Promise<readonly LogLine[]> {
  if (compression === "none") return JSON.parse(Buffer.from(bytes).toString()) as readonly LogLine[];
  return unpackLines(bytes, compression);
}

async function holds(bytes: Uint8Array, { first, last, place }: CooledChunk): Promise<boolean> {
  try {
    const lines = await linesIn(bytes, place);
    return lines[0]?.line === first && lastLineOf(lines.at(-1)!) === last;
  } catch {
    return false;
  }
}
