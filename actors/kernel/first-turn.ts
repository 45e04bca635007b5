/**
 * The first turn of an aggregate that nobody owns yet: taken by whoever creates it, before it is stored. So what it owes
 * is performed at once, without the way over a mailbox; the owner performs what is still owed a while later. Pure.
 */
import type { OutputsReader } from "../../src/domain/outputs.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate } from "../../src/stores/ports/aggregates.ts";
import type { AggregateType } from "./actor-kind.ts";
import { dueTimers, headAfter, indexed, NO_ACTORS, toStored } from "./head.ts";
import { decideTurn, type LiveActor } from "./turn.ts";

/**
 * The aggregate with the timers decided that are due at its creation; the same version, since it is stored once. Throws
 * the reason when a message could not be decided, and `MissingOutputs` when a decision has to read some first.
 */
export function takeFirstTurn(
  { head, actors }: Aggregate,
  plan: RunPlan,
  now: number,
  type: AggregateType,
  outputs: OutputsReader,
): Aggregate {
  const live = new Map(actors.map(({ kind, id, state }): [string, LiveActor] => [id, { kind, id, state }]));
  const due = dueTimers(live.values(), now, type);
  const turn = decideTurn(live, due, now, plan, type, outputs);
  const [undecided] = turn.undecided;
  if (undecided !== undefined) throw new Error(undecided.reason);
  for (const actor of turn.changed.values()) live.set(actor.id, actor);
  const index = indexed(NO_ACTORS, live.values(), type);
  const after = { root: live.get(head.rootId)!.state, index, carried: [], actors: live.values(), plan };
  return {
    head: headAfter(head, turn, after, now, type),
    actors: toStored(live.values(), type),
  };
}
