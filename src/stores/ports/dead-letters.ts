/** Messages that could not be decided: kept for an operator, with the reason. */
import type { ActorRef } from "../../domain/effects.ts";

export interface DeadLetter {
  /** The same for the same message to the same actor. */
  readonly id: string;
  readonly shard: number;
  readonly rootId: string;
  /** As delivered; the message is JSON that no actor knew what to do with. */
  readonly letter: { readonly to: ActorRef; readonly message: unknown };
  readonly reason: string;
  /** Of the newest failure, Unix milliseconds. */
  readonly at: number;
}

export interface KeptDeadLetter extends DeadLetter {
  /** How often it has come since it was last removed. */
  readonly times: number;
}

export interface DeadLetterStore {
  /** Keeps the letter; one that is kept already takes the new reason and time, and counts once more. */
  insert(letter: DeadLetter): Promise<void>;
  find(id: string): Promise<KeptDeadLetter | undefined>;
  /** Removes the letter, unless it has come again since it was found with `times`. Idempotent. */
  remove(id: string, times: number): Promise<void>;
  /** By time, with the id as tie-break. */
  list(request: DeadLetterRequest): Promise<readonly KeptDeadLetter[]>;
  count(): Promise<number>;
  /** Removes at most `limit` that came last before `before`, and of the others the oldest beyond `most`; answers how many. */
  forget(bounds: { readonly before: number; readonly most: number; readonly limit: number }): Promise<number>;
}

export interface DeadLetterRequest {
  /** From 0. */
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
}
