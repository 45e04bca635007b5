/** The head of an aggregate after a turn, and the index of actors from which it is made. Pure. */
import type { RootId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { AggregateHead, OwedRecord, StoredActor } from "../../src/stores/ports/aggregates.ts";
import { type AggregateType, kindOf } from "./actor-kind.ts";
import type { ActorMessage, LiveActor, TurnResult } from "./turn.ts";

/** What the kernel needs to know about all actors in every turn, kept so that it need not read the state of each. */
export interface LiveIndex {
  /** Ids of the actors that an agent holds. */
  readonly held: ReadonlySet<string>;
  /** The earliest timer of each actor that has one, by the actor's id, Unix milliseconds. */
  readonly dueAt: ReadonlyMap<string, number>;
}

export const EMPTY_INDEX: LiveIndex = { held: new Set(), dueAt: new Map() };

/** The index, brought up to date for these actors. */
export function updateIndex(index: LiveIndex, actors: Iterable<LiveActor>, type: AggregateType): LiveIndex {
  const held = new Set(index.held);
  const dueAt = new Map(index.dueAt);
  for (const { kind, id, state } of actors) {
    const actorKind = kindOf(type, kind);
    if (actorKind.heldBy(state as never) === null) held.delete(id);
    else held.add(id);
    let due = Infinity;
    for (const [, timer] of actorKind.timers(state as never))
      if (timer !== null && timer.dueAt < due) due = timer.dueAt;
    if (due === Infinity) dueAt.delete(id);
    else dueAt.set(id, due);
  }
  return { held, dueAt };
}

/** All actors after a turn: changed, unchanged and new ones. A generator, because most callers need only a few. */
export function* afterTurn(
  actors: ReadonlyMap<string, LiveActor>,
  changed: ReadonlyMap<string, LiveActor>,
): Generator<LiveActor> {
  for (const actor of actors.values()) yield changed.get(actor.id) ?? actor;
  for (const actor of changed.values()) if (!actors.has(actor.id)) yield actor;
}

/** One message for each timer of these actors that is due at `now`. */
export function dueTimers(actors: Iterable<LiveActor>, now: number, type: AggregateType): readonly ActorMessage[] {
  const due: ActorMessage[] = [];
  for (const { kind, id, state } of actors) {
    for (const [timer, set] of kindOf(type, kind).timers(state as never)) {
      if (set === null || set.dueAt > now) continue;
      due.push({ to: { kind, id }, message: { type: "timer", timer, generation: set.generation } });
    }
  }
  return due;
}

/** The actors in the form in which they are stored. */
export function toStored(actors: Iterable<LiveActor>, type: AggregateType): readonly StoredActor[] {
  return Array.from(actors, ({ kind, id, state }) => ({
    kind,
    id,
    state,
    index: kindOf(type, kind).index(state as never),
  }));
}

/**
 * The head after a turn at `now`; the caller that saves it sets its version. `root`: the state of the root actor after
 * the turn. `carried`: effects of an earlier turn that are still owed.
 */
export function headAfter<Root extends RootId>(
  head: AggregateHead<Root>,
  turn: Pick<TurnResult, "effects">,
  after: {
    readonly root: unknown;
    readonly index: LiveIndex;
    readonly carried: readonly OwedRecord[];
    readonly actors: Iterable<LiveActor>;
    readonly plan: RunPlan;
  },
  now: number,
  type: AggregateType,
): AggregateHead<Root> {
  const root = after.root as never;
  const { held, dueAt } = after.index;
  let { eventNumber } = head;
  const owed = turn.effects.map((effect): OwedRecord => {
    return { effect, eventNumber: effect.type === "publish" ? ++eventNumber : null, at: now };
  });
  return {
    ...head,
    eventNumber,
    owed: after.carried.length === 0 ? owed : [...after.carried, ...owed],
    final: type.isFinal(root),
    nextDueAt: dueAt.size === 0 ? null : Math.min(...dueAt.values()),
    summary: type.summarise(root, held.size > 0, after.actors, after.plan),
  };
}
