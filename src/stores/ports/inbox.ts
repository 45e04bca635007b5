/**
 * The inbox: commands that an edge or another aggregate has stored and an owner has not yet answered. Stored means accepted: the owner's
 * sweep finds it even when the doorbell is lost.
 */
import type { CommandBody } from "../../domain/commands.ts";
import type { Verdict } from "../../domain/effects.ts";
import type { CommandId, RootId } from "../../domain/ids.ts";

export type Command = CommandBody & {
  readonly id: CommandId;
  readonly rootId: RootId;
  readonly shard: number;
  /** Unix milliseconds. */
  readonly storedAt: number;
};

export interface InboxStore {
  /** Stores a command behind those already stored for its root; a repeat of the id changes nothing. */
  insert(command: Command): Promise<void>;
  /** Unanswered commands of a root in the order in which they were stored. */
  pending(rootId: RootId): Promise<readonly Command[]>;
  /** Roots of a shard (ascending, after `after`) with unanswered commands. */
  pageRoots(shard: number, after: string, limit: number): Promise<readonly RootId[]>;
  /** Answers a command; the first verdict stays. */
  answer(id: CommandId, verdict: Verdict): Promise<void>;
  /** The verdict, null while unanswered, or undefined for an unknown id. */
  verdict(id: CommandId): Promise<Verdict | null | undefined>;
  /**
   * Removes answered commands of a root that were stored before `before`, Unix milliseconds. A repeat of one of them is a new
   * command from then on.
   */
  forgetAnswered(rootId: RootId, before: number): Promise<void>;
}
