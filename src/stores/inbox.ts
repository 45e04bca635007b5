/**
 * The inbox: commands that an edge has stored and an owner has not yet answered. Stored means accepted: the owner's
 * sweep finds it even when the doorbell is lost.
 */
import type { Verdict } from "../domain/effects.ts";
import type { CommandId, RunId } from "../domain/ids.ts";

export const COMMAND_KINDS = ["stop", "pause", "resume"] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

export interface Command {
  readonly id: CommandId;
  readonly rootId: RunId;
  readonly shard: number;
  readonly kind: CommandKind;
  readonly reason: string;
  /** Who asked, as the user named themselves, and the authenticated caller. */
  readonly operator: string;
  readonly actor: string;
  readonly storedAt: number;
}

export interface InboxStore {
  /** Stores a command behind those already stored for its root; a repeat of the id changes nothing. */
  insert(command: Command): Promise<void>;
  /** Unanswered commands of a root in the order in which they were stored. */
  pending(rootId: RunId): Promise<readonly Command[]>;
  /** Roots of a shard (ascending, after `after`) with unanswered commands. */
  pageRoots(shard: number, after: string, limit: number): Promise<readonly RunId[]>;
  /** Answers a command; the first verdict stays. */
  answer(id: CommandId, verdict: Verdict): Promise<void>;
  /** The verdict, null while unanswered, or undefined for an unknown id. */
  verdict(id: CommandId): Promise<Verdict | null | undefined>;
}
