/** The head of an aggregate after a turn, and the index of actors from which it is made. Pure. */
import type { RootId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { AggregateHead, OwedRecord, StoredActor } from "../../src/stores/ports/aggregates.ts";
import { type AggregateType, kindOf } from "./actor-kind.ts";
import type { ActorMessage, LiveActor, TurnResult } from "./turn.ts";

/**
 * What the kernel needs to know about all actors in every turn. It is changed in place: a copy for each turn would cost
 * as much as a run has actors.
 */
export class LiveIndex {
  readonly #type: AggregateType;
  /** Ids of the actors that an agent holds. */
  readonly #held = new Set<string>();
  /** The earliest timer of each actor that has one, by the actor's id, Unix milliseconds. */
  readonly #dueAt = new Map<string, number>();

  constructor(type: AggregateType, actors: Iterable<LiveActor>) {
    this.#type = type;
    this.update(actors);
  }

  /** Takes in actors that have changed or are new. */
  update(changed: Iterable<LiveActor>): void {
    for (const actor of changed) {
      const { isHeld, dueAt } = this.#read(actor);
      if (isHeld) this.#held.add(actor.id);
      else this.#held.delete(actor.id);
      if (dueAt === null) this.#dueAt.delete(actor.id);
      else this.#dueAt.set(actor.id, dueAt);
    }
  }

  /** What the head says of all actors once these have changed. Changes nothing. */
  after(changed: ReadonlyMap<string, LiveActor>): IndexedFacts {
    let held = this.#held.size;
    let nextDueAt = Infinity;
    for (const actor of changed.values()) {
      const { isHeld, dueAt } = this.#read(actor);
      held += Number(isHeld) - Number(this.#held.has(actor.id));
      if (dueAt !== null && dueAt < nextDueAt) nextDueAt = dueAt;
    }
    for (const [id, dueAt] of this.#dueAt) if (dueAt < nextDueAt && !changed.has(id)) nextDueAt = dueAt;
    return { bound: held > 0, nextDueAt: nextDueAt === Infinity ? null : nextDueAt };
  }

  /** Ids of the actors that have a timer which is due at `now`. */
  dueAt(now: number): readonly string[] {
    const due: string[] = [];
    for (const [id, earliest] of this.#dueAt) if (earliest <= now) due.push(id);
    return due;
  }

  #read({ kind, state }: LiveActor): { readonly isHeld: boolean; readonly dueAt: number | null } {
    const actorKind = kindOf(this.#type, kind);
    let due = Infinity;
    for (const [, timer] of actorKind.timers(state as never)) {
      if (timer !== null && timer.dueAt < due) due = timer.dueAt;
    }
    return { isHeld: actorKind.heldBy(state as never) !== null, dueAt: due === Infinity ? null : due };
  }
}

export interface IndexedFacts {
  /** An agent holds one of the actors. */
  readonly bound: boolean;
  /** The earliest timer of all actors, Unix milliseconds; null for none. */
  readonly nextDueAt: number | null;
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
    readonly facts: IndexedFacts;
    readonly carried: readonly OwedRecord[];
    readonly actors: Iterable<LiveActor>;
    readonly plan: RunPlan;
  },
  now: number,
  type: AggregateType,
): AggregateHead<Root> {
  const root = after.root as never;
  const { bound, nextDueAt } = after.facts;
  let { eventNumber } = head;
  const owed = turn.effects.map((effect): OwedRecord => {
    return { effect, eventNumber: effect.type === "publish" ? ++eventNumber : null, at: now };
  });
  return {
    ...head,
    eventNumber,
    owed: after.carried.length === 0 ? owed : [...after.carried, ...owed],
    final: type.isFinal(root),
    nextDueAt,
    summary: type.summarise(root, bound, after.actors, after.plan),
  };
}
