/**
 * The port of the inbox: commands for an aggregate, stored by an edge or by another aggregate, and answered by the
 * owner of the shard. A stored command is accepted: the sweep of the owner finds it even when the envelope that
 * announces it is lost.
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
  /** Stores a command after those that are already stored for its root. A repeat of the id changes nothing. */
  insert(command: Command): Promise<void>;
  /** Unanswered commands of a root in the order in which they were stored. */
  pending(rootId: RootId): Promise<readonly Command[]>;
  /** Roots of a shard (ascending, after `after`) with unanswered commands. */
  pageRoots(shard: number, after: string, limit: number): Promise<readonly RootId[]>;
  /** Stores the verdict on a command. The first verdict stays: a repeat changes nothing. */
  answer(id: CommandId, verdict: Verdict): Promise<void>;
  /** The verdict, null while unanswered, or undefined for an unknown id. */
  verdict(id: CommandId): Promise<Verdict | null | undefined>;
  /**
   * Removes the answered commands of a root that were stored before `before`, Unix milliseconds. If a caller inserts
   * one of them again after that, it counts as a new command.
   */
  forgetAnswered(rootId: RootId, before: number): Promise<void>;
}
