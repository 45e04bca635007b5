/**
 * The port of blobs: content of any length under an id that the control plane chooses, stored as files or in GridFS. A
 * writer puts it in pieces of {@link PIECE_BYTES}, in order, and may continue after any interruption: a repeated piece
 * changes nothing, because it has the same bytes. A complete blob never changes.
 */

export interface BlobStore {
  /**
   * The offset up to which all pieces are stored, a multiple of the piece size. A shorter last piece counts as a whole
   * piece or not at all. 0 for an unknown blob.
   */
  storedBytes(blobId: string): Promise<number>;
  /**
   * Stores a piece at `offset`, a multiple of the piece size. Answers `gap`, and stores nothing, when the piece before
   * it is missing. Idempotent.
   */
  put(blobId: string, offset: number, piece: Uint8Array): Promise<"stored" | "gap">;
  /**
   * Makes the blob complete and durable. Answers `incomplete` when its size is not `sizeBytes`, which is above 0.
   * Idempotent.
   */
  complete(blobId: string, sizeBytes: number): Promise<"complete" | "incomplete">;
  /**
   * Bytes from `offset`, at most `length` and at most one piece. None at the end of the blob, and none for an unknown
   * blob.
   */
  read(blobId: string, offset: number, length: number): Promise<Uint8Array>;
  /** Removes the blob, complete or not. Changes nothing when it is missing. */
  delete(blobId: string): Promise<void>;
}
