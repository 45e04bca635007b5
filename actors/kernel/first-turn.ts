/**
 * The first turn of an aggregate. The edge that creates the aggregate takes this turn before it stores the aggregate,
 * and performs its effects at once, so that a new run needs neither a mailbox nor its owner to begin. Where the edge has
 * reserved slots of agents, the first snapshot holds the grants, too. creator-grace.ts says when the owner performs
 * effects that the creator has not. Pure.
 */
import type { Offer, OwedEffect } from "../../src/domain/effects.ts";
import type { OutputsReader } from "../../src/domain/outputs.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { AggregateType } from "./actor-kind.ts";
import { dueTimers, headAfter, LiveIndex, toStored } from "./head.ts";
import { type ActorMessage, decideTurn } from "./turn.ts";

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
  const due = dueTimers(actors, now, type);
  return decideFirst({ head, actors }, due, plan, now, type, outputs);
}

/** The offers of the jobs that wait for an agent after the first turn. */
export function offersOf({ head }: Aggregate): readonly Offer[] {
  return head.owed.flatMap(({ effect }) => (effect.type === "offer" ? [effect.offer] : []));
}

/**
 * The aggregate of {@link takeFirstTurn} after claims of its jobs, which slots are reserved for. What would have led an
 * agent to a granted job is owed no more: no other node has seen its offer, so there is nothing to withdraw either.
 * Throws an error as {@link takeFirstTurn} does.
 */
export function grantAtOnce(
  begun: Aggregate,
  claims: readonly ActorMessage[],
  plan: RunPlan,
  now: number,
  type: AggregateType,
  outputs: OutputsReader,
): Aggregate {
  const granted = new Set<string>(claims.map(({ to }) => to.id));
  // The tokens are above all former ones, as those of an owner whose epoch begins now.
  const { head, actors } = decideFirst(begun, claims, plan, now, type, outputs, now);
  return { head: { ...head, owed: head.owed.filter(({ effect }) => !leadsTo(effect, granted)) }, actors };
}

function leadsTo(effect: OwedEffect, jobIds: ReadonlySet<string>): boolean {
  switch (effect.type) {
    case "offer":
      return jobIds.has(effect.offer.jobId);
    case "withdraw":
      return jobIds.has(effect.jobId);
    case "schedule":
      return effect.timer === "queueTimeout" && jobIds.has(effect.to.id);
    default:
      return false;
  }
}

function decideFirst(
  { head, actors }: Aggregate,
  messages: readonly ActorMessage[],
  plan: RunPlan,
  now: number,
  type: AggregateType,
  outputs: OutputsReader,
  epoch?: number,
): Aggregate {
  const stored = new Map(actors.map((actor): [string, StoredActor] => [actor.id, actor]));
  const turn = decideTurn(stored, messages, now, plan, type, outputs, epoch);
  const [undecided] = turn.undecided;
  if (undecided !== undefined) throw new Error(undecided.reason);
  for (const actor of toStored(turn.changed.values(), type)) stored.set(actor.id, actor);
  const facts = new LiveIndex(type, stored.values()).after(new Map());
  const after = { root: stored.get(head.rootId)!.state, facts, carried: head.owed, actors: stored.values(), plan };
  return { head: headAfter(head, turn, after, now, type), actors: [...stored.values()] };
}
