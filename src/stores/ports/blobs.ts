/**
 * The port of blobs: content of any length under an id that the control plane chooses, stored as files, in GridFS, or in
 * an object storage. A writer puts it in pieces of {@link PIECE_BYTES}, in order, and may continue after any interruption: a
 * repeated piece changes nothing, because it has the same bytes. A complete blob never changes.
 */

export interface BlobStore {
  /**
   * The offset up to which all pieces are stored, a multiple of the piece size. A shorter last piece counts as a whole
   * piece or not at all. 0 for an unknown blob.
   */
  storedBytes(blobId: string): Promise<number>;
  /**
   * Takes a piece at `offset`, a multiple of the piece size. Answers `gap`, and stores nothing, when the piece before
   * it is missing. Idempotent. The process may hold the newest pieces in memory until {@link BlobStore.flush} or
   * {@link BlobStore.complete}; if the process dies before, the writer finds a smaller offset and sends them again.
   */
  put(blobId: string, offset: number, piece: Uint8Array): Promise<"stored" | "gap">;
  /** Stores the pieces that are held in memory, so that any other process can continue. */
  flush(blobId: string): Promise<void>;
  /**
   * Makes the blob complete and durable. Answers `incomplete` when its size is not `sizeBytes`, which is above 0.
   * Idempotent.
   */
  complete(blobId: string, sizeBytes: number): Promise<"complete" | "incomplete">;
  /**
   * Bytes of a complete blob from `offset`, at most `length` and at most one piece. None at the end of the blob, and none
   * for an unknown blob.
   */
  read(blobId: string, offset: number, length: number): Promise<Uint8Array>;
  /** Removes the blob, complete or not. Changes nothing when it is missing. */
  delete(blobId: string): Promise<void>;
  /** Present when the blobs are in an object storage. */
  readonly objects?: ObjectCalls;
}

/** What an object storage can do beyond a store of pieces. */
export interface ObjectCalls {
  /**
   * Bytes of a complete blob from `offset` in one call of the storage, in chunks of any length. Ends early at the end of the
   * blob, and at once for an unknown blob.
   */
  stream(blobId: string, offset: number, length: number): AsyncIterable<Uint8Array>;
  /** Stores a complete blob by one call. A repeat replaces it. */
  put(blobId: string, bytes: Uint8Array): Promise<void>;
  /**
   * An address from which anyone can fetch a complete blob for a few seconds, as a download with this name. Undefined when
   * the object storage does not have the blob. The address is a secret.
   */
  linkTo(blobId: string, fileName: string): Promise<string | undefined>;
  /** The complete blobs, in no particular order. */
  list(): AsyncIterable<{ readonly blobId: string; /** Unix milliseconds. */ readonly storedAt: number }>;
  /** Writes `installation` down as the owner, unless there is one; answers the owner. */
  claim(installation: string): Promise<string>;
  /** Resolves when the storage answers; rejects with `unavailable`, and says what is wrong, when it does not. */
  check(): Promise<void>;
  /**
   * Removes what is stored of incomplete blobs that were begun before `before`, Unix milliseconds, and answers how many
   * objects and uploads it removed.
   */
  removeUnfinished(before: number): Promise<number>;
}
