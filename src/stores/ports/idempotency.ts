/** Idempotency keys: a caller's `requestId` within a scope, the hash of the body it came with, and what it was claimed for. */
export interface IdempotencyKey {
  /** Hash of scope and `requestId`, hex. */
  readonly key: string;
  /** Empty for one that does not go by its age. */
  readonly bodyHash: string;
  /** What the first call chose for what it creates: its id, with what else a repeat needs to finish that creation. */
  readonly createdId: string;
  readonly at: number;
}

export interface IdempotencyStore {
  /** Stores the key unless it is there; answers what is stored now (the caller compares `bodyHash` and `createdId`). */
  claim(key: IdempotencyKey): Promise<IdempotencyKey>;
  find(key: string): Promise<IdempotencyKey | undefined>;
  remove(key: string): Promise<void>;
  /** Removes at most `limit` that are older than `before`; answers how many. */
  forget(before: number, limit: number): Promise<number>;
}
