/**
 * Which actors of a loaded aggregate leave the snapshot. An actor that has ended leaves it in two saves: one stores its
 * final state in the snapshot, and a later one moves it out. So what is stored apart is always a copy of something that
 * was saved, and any number of owners may write it at the same time.
 */
import type { RunPlan } from "../../src/domain/plan.ts";
import type { AggregateType } from "./actor-kind.ts";
import type { LiveActor } from "./turn.ts";

/**
 * How many actors one save moves out: twice as many as a turn may end, so that the snapshot shrinks even while every
 * turn ends as many as it may.
 */
const MOST = 4_000;

export class EndedActors {
  readonly #type: AggregateType;
  readonly #plan: RunPlan;
  readonly #apart: Set<string>;
  readonly #inSnapshot = new Set<string>();
  /** False until a save asks: a store that keeps nothing apart never does. */
  #hasLooked = false;

  /** `apart`: ids of the actors that have left the snapshot already. */
  constructor(type: AggregateType, plan: RunPlan, apart: readonly string[] = []) {
    this.#type = type;
    this.#plan = plan;
    this.#apart = new Set(apart);
  }

  /** The actors that may leave the snapshot with the save of these changes. `actors`: all, as they are before them. */
  leaving(actors: ReadonlyMap<string, LiveActor>, changed: readonly LiveActor[]): readonly LiveActor[] {
    if (!this.#hasLooked) this.#find(actors.values(), actors);
    this.#hasLooked = true;
    if (this.#inSnapshot.size === 0) return [];
    const ids = new Set(changed.map(({ id }) => id));
    const leaving: LiveActor[] = [];
    for (const id of this.#inSnapshot) {
      if (leaving.length === MOST) break;
      if (!ids.has(id)) leaving.push(actors.get(id)!);
    }
    return leaving;
  }

  /** Called after a save: `left` have left the snapshot, and `made` are new in it. `actors`: all, as they are now. */
  saved(left: readonly LiveActor[], made: readonly LiveActor[], actors: ReadonlyMap<string, LiveActor>): void {
    if (!this.#hasLooked) return;
    for (const { id } of left) {
      this.#inSnapshot.delete(id);
      this.#apart.add(id);
    }
    this.#find(made, actors);
  }

  #find(actors: Iterable<LiveActor>, all: ReadonlyMap<string, LiveActor>): void {
    const ended = this.#type.attemptsBefore?.(actors, (id) => all.get(id)?.state, this.#plan) ?? [];
    for (const id of ended) if (!this.#apart.has(id)) this.#inSnapshot.add(id);
  }
}
