/**
 * The port of idempotency keys: each is claimed once, for an object that its first caller creates. Most keys stand for
 * the `requestId` of a caller; the others claim the rerun of a run.
 */
export interface IdempotencyKey {
  /**
   * SHA-256, hexadecimal: of the scope, the caller and its `requestId`, or of the run and attempt that is run again.
   */
  readonly key: string;
  /** SHA-256 of the request's body, hexadecimal. Empty for the claim of a rerun: `forget` leaves it alone. */
  readonly bodyHash: string;
  /**
   * What the first call creates: the id of the object, with anything else that a repeat needs to finish the creation.
   */
  readonly createdId: string;
  /** When the key was claimed, Unix milliseconds. */
  readonly at: number;
}

export interface IdempotencyStore {
  /**
   * Stores the key unless it is stored already; answers the stored one. The caller compares `bodyHash` and `createdId`.
   */
  claim(key: IdempotencyKey): Promise<IdempotencyKey>;
  find(key: string): Promise<IdempotencyKey | undefined>;
  /** Changes nothing when the key is missing, or when it stands for another object than `createdId`, where that is given. */
  remove(key: string, createdId?: string): Promise<void>;
  /**
   * Removes at most `limit` keys that have a `bodyHash` and were claimed before `before`, Unix milliseconds; answers
   * how many.
   */
  forget(before: number, limit: number): Promise<number>;
}
