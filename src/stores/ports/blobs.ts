/**
 * Content of any length under ids of ours, as files or in GridFS. It is written in pieces of {@link PIECE_BYTES}, in order,
 * and may be gone on with after any break: a piece that is there already is left as it is or written again with the same
 * bytes. What is complete never changes.
 */

export interface BlobStore {
  /**
   * Up to where everything is there: a whole number of pieces. A shorter last piece counts as a whole one or not at all;
   * 0 for a blob that nobody knows.
   */
  storedBytes(blobId: string): Promise<number>;
  /** `gap`, and nothing is stored, when the piece before it is not there. `offset` is a multiple of the piece. */
  put(blobId: string, offset: number, piece: Uint8Array): Promise<"stored" | "gap">;
  /** The blob has `sizeBytes`, above 0, and is on disk with its name; `incomplete` when it has another size. Idempotent. */
  complete(blobId: string, sizeBytes: number): Promise<"complete" | "incomplete">;
  /** Bytes from `offset` on, at most a piece and at most `length`; none at the end, or where there is no blob. */
  read(blobId: string, offset: number, length: number): Promise<Uint8Array>;
  /** Nothing happens when there is none. */
  delete(blobId: string): Promise<void>;
}
