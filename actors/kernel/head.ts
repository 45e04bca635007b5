/** The head of an aggregate after a turn, and the look at actors that it is made of. Pure. */
import type { RootId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { AggregateHead, OwedRecord, StoredActor } from "../../src/stores/ports/aggregates.ts";
import { type AggregateType, kindOf } from "./actor-kind.ts";
import type { Delivery, LiveActor, TurnResult } from "./turn.ts";

/** What the kernel must know of all actors without looking at each of them in every turn. */
export interface ActorsIndex {
  /** Actors that an agent holds. */
  readonly held: ReadonlySet<string>;
  /** Actors that have timers, with their earliest, Unix milliseconds. */
  readonly dueAt: ReadonlyMap<string, number>;
}

export const NO_ACTORS: ActorsIndex = { held: new Set(), dueAt: new Map() };

/** The index with these actors as they are now. */
export function indexed(index: ActorsIndex, actors: Iterable<LiveActor>, type: AggregateType): ActorsIndex {
  const held = new Set(index.held);
  const dueAt = new Map(index.dueAt);
  for (const { kind, id, state } of actors) {
    const actorKind = kindOf(type, kind);
    if (actorKind.heldBy(state as never) === null) held.delete(id);
    else held.add(id);
    const due = Math.min(...actorKind.timers(state as never).map(([, timer]) => timer?.dueAt ?? Infinity));
    if (due === Infinity) dueAt.delete(id);
    else dueAt.set(id, due);
  }
  return { held, dueAt };
}

/** All actors after a turn; they are looked at only as far as somebody asks. */
export function* afterTurn(
  actors: ReadonlyMap<string, LiveActor>,
  changed: ReadonlyMap<string, LiveActor>,
): Generator<LiveActor> {
  for (const actor of actors.values()) yield changed.get(actor.id) ?? actor;
  for (const actor of changed.values()) if (!actors.has(actor.id)) yield actor;
}

/** A message for every timer of these actors that is due at `now`. */
export function dueTimers(actors: Iterable<LiveActor>, now: number, type: AggregateType): readonly Delivery[] {
  const due: Delivery[] = [];
  for (const { kind, id, state } of actors) {
    for (const [timer, set] of kindOf(type, kind).timers(state as never)) {
      if (set === null || set.dueAt > now) continue;
      due.push({ to: { kind, id }, message: { type: "timer", timer, generation: set.generation } });
    }
  }
  return due;
}

/** Actors as they are stored. */
export function toStored(actors: Iterable<LiveActor>, type: AggregateType): readonly StoredActor[] {
  return Array.from(actors, ({ kind, id, state }) => ({
    kind,
    id,
    state,
    index: kindOf(type, kind).index(state as never),
  }));
}

/**
 * The head after a turn at `now`; its version is for whoever saves it. `root`: the root's state then; `carried`: what an
 * earlier turn owes and is still to be performed.
 */
export function headAfter<Root extends RootId>(
  head: AggregateHead<Root>,
  turn: Pick<TurnResult, "effects">,
  after: {
    readonly root: unknown;
    readonly index: ActorsIndex;
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
