/** The port of dead letters: messages that an actor could not decide, kept with the reason for an operator. */
import type { ActorRef } from "../../domain/effects.ts";
import type { ListKey } from "./pages.ts";

export interface DeadLetter {
  /** Derived from the message and its actor: the same message to the same actor has the same id. */
  readonly id: string;
  readonly shard: number;
  readonly rootId: string;
  /**
   * The message as it arrived, with the actor that it was sent to. The message is JSON that this actor cannot decide.
   * The name `letter` is part of the stored format and of the HTTP API, so it stays.
   */
  readonly letter: { readonly to: ActorRef; readonly message: unknown };
  readonly reason: string;
  /** When the message failed last, Unix milliseconds. */
  readonly at: number;
}

export interface KeptDeadLetter extends DeadLetter {
  /** How often the message has failed since its dead letter was last removed. */
  readonly times: number;
}

export interface DeadLetterStore {
  /** Keeps the dead letter. One that is kept already takes the new reason and time, and its `times` grows by one. */
  insert(deadLetter: DeadLetter): Promise<void>;
  find(id: string): Promise<KeptDeadLetter | undefined>;
  /** Removes the dead letter, unless its message has failed again since it was found with `times`. Idempotent. */
  remove(id: string, times: number): Promise<void>;
  /** Dead letters by `at`, with the id as tie-break. */
  list(request: DeadLetterRequest): Promise<readonly KeptDeadLetter[]>;
  count(): Promise<number>;
  /**
   * Removes at most `limit` dead letters: those that failed last before `before`, and the oldest above a count of
   * `most`. Answers how many.
   */
  forget(bounds: { readonly before: number; readonly most: number; readonly limit: number }): Promise<number>;
}

export interface DeadLetterRequest {
  /** From 0. */
  readonly offset: number;
  /** The list begins behind this place, and `offset` counts from there. */
  readonly after?: ListKey | undefined;
  readonly limit: number;
  readonly descending: boolean;
}
