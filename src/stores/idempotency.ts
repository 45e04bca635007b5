/** Idempotency keys: a caller's `requestId` within a scope, the hash of the body it came with, and the id of what is created. */
export interface IdempotencyKey {
  /** Hash of scope and `requestId`, hex. */
  readonly key: string;
  readonly bodyHash: string;
  /** The id that the first call chose for what it creates; a repeat finishes that creation. */
  readonly createdId: string;
  readonly at: number;
}

export interface IdempotencyStore {
  /** Stores the key unless it is there; answers what is stored now (the caller compares `bodyHash` and `createdId`). */
  claim(key: IdempotencyKey): Promise<IdempotencyKey>;
}
