/**
 * Fields of states that follow from the other actors of the aggregate and grow with the run. From {@link APART_SCHEMA} on
 * they are not stored, so that a turn does not write them again and again; a load derives them. Pure.
 */
import type { StoredActor } from "../ports/aggregates.ts";
import type { StoredState } from "./stored-parts.ts";

/** The state of an actor without the fields that a load derives. */
export function withoutDerived(kind: StoredActor["kind"], state: StoredState): StoredState {
  if (kind !== "run") return state;
  const { attempts: _derived, ...stored } = state;
  return stored;
}

/** The same actors, all those of an aggregate, with the derived fields. A field that is stored stays as it is. */
export function withDerived(actors: readonly StoredActor[]): readonly StoredActor[] {
  return actors.map((actor) => {
    const state = actor.state as StoredState;
    if (actor.kind !== "run" || "attempts" in state) return actor;
    return { ...actor, state: { ...state, attempts: newestAttempts(actors) } };
  });
}

/** The newest attempt of each planned job that has more than one, by the job's index. */
function newestAttempts(actors: readonly StoredActor[]): readonly (readonly [index: number, attempt: number])[] {
  const newest = new Map<number, number>();
  for (const { kind, state } of actors) {
    if (kind !== "job") continue;
    const { index, attempt, cell } = state as { index: number; attempt: number; cell: number | null };
    if (cell === null && attempt > 1) newest.set(index, Math.max(attempt, newest.get(index) ?? 0));
  }
  return [...newest];
}
