/** How many actors of an aggregate count under each key, through the changes of a turn. Pure. */
import type { RunPlan } from "../../src/domain/plan.ts";
import { type ActorView, type AggregateType, kindOf } from "./actor-kind.ts";

type Actors = ReadonlyMap<string, ActorView>;

/**
 * Reads all actors when the first count is asked for, and keeps the counts from then on: so each decision of a turn may
 * ask, and a turn without a question reads nothing.
 */
export class ActorCounts {
  readonly #plan: RunPlan;
  readonly #type: AggregateType;
  #counts: Map<string, number> | null = null;

  constructor(plan: RunPlan, type: AggregateType) {
    this.#plan = plan;
    this.#type = type;
  }

  /** `changed` holds the actors that differ from `actors` at this point of the turn, and new ones. */
  of(key: string, actors: Actors, changed: Actors): number {
    if (this.#counts === null) {
      this.#counts = new Map();
      for (const [id, actor] of actors) if (!changed.has(id)) this.#add(actor, 1);
      for (const actor of changed.values()) this.#add(actor, 1);
    }
    return this.#counts.get(key) ?? 0;
  }

  /** `before` is undefined for a new actor. */
  change(before: ActorView | undefined, after: ActorView): void {
    if (this.#counts === null) return;
    if (before !== undefined) this.#add(before, -1);
    this.#add(after, 1);
  }

  #add({ kind, state }: ActorView, by: number): void {
    const key = kindOf(this.#type, kind).countedAs?.(state as never, this.#plan) ?? null;
    if (key !== null) this.#counts!.set(key, (this.#counts!.get(key) ?? 0) + by);
  }
}
