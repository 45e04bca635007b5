/** Messages that could not be decided: kept for an operator, with the reason. */
export interface DeadLetter {
  readonly id: string;
  readonly shard: number;
  readonly rootId: string;
  /** The actor and message as delivered, JSON. */
  readonly letter: unknown;
  readonly reason: string;
  readonly at: number;
}

export interface DeadLetterStore {
  /** Inserts; a repeat of the id changes nothing. */
  insert(letter: DeadLetter): Promise<void>;
  list(limit: number): Promise<readonly DeadLetter[]>;
  count(): Promise<number>;
}
