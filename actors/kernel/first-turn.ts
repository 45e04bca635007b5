/**
 * The first turn of an aggregate. The edge that creates the aggregate takes this turn before it stores the aggregate,
 * and performs its effects at once, so that a new run needs neither a mailbox nor its owner to begin. creator-grace.ts
 * says when the owner performs effects that the creator has not. Pure.
 */
import type { OutputsReader } from "../../src/domain/outputs.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { AggregateType } from "./actor-kind.ts";
import { dueTimers, headAfter, updateIndex, EMPTY_INDEX, toStored } from "./head.ts";
import { decideTurn } from "./turn.ts";

/** How long the creator has to perform what the first turn owes, milliseconds; see creator-grace.ts. */
export const CREATOR_MS = 1_500;

/**
 * The aggregate after the timers that are due at its creation were decided. It keeps its version, because it is stored
 * once. Throws an error with the reason when a message could not be decided, and `MissingOutputs` when a decision needs
 * outputs that were not fetched.
 */
export function takeFirstTurn(
  { head, actors }: Aggregate,
  plan: RunPlan,
  now: number,
  type: AggregateType,
  outputs: OutputsReader,
): Aggregate {
  const stored = new Map(actors.map((actor): [string, StoredActor] => [actor.id, actor]));
  const due = dueTimers(stored.values(), now, type);
  const turn = decideTurn(stored, due, now, plan, type, outputs);
  const [undecided] = turn.undecided;
  if (undecided !== undefined) throw new Error(undecided.reason);
  for (const actor of toStored(turn.changed.values(), type)) stored.set(actor.id, actor);
  const index = updateIndex(EMPTY_INDEX, stored.values(), type);
  const after = { root: stored.get(head.rootId)!.state, index, carried: [], actors: stored.values(), plan };
  return { head: headAfter(head, turn, after, now, type), actors: [...stored.values()] };
}
