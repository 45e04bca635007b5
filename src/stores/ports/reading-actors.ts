/** Lets a pure function read actors of a run, of which it needs few. */
import type { RunId } from "../../domain/ids.ts";
import type { AggregateStore } from "./aggregates.ts";

/** The state of an actor; undefined when the run has no such actor. */
export type ActorReader = (id: string) => unknown;

/**
 * Answers what `attempt` returns. `attempt` is called again until it asks for no actor that is not read yet; before the
 * last call, the answers to its questions may be undefined for actors that exist. What it asks for in one call is read
 * at once. The actors may be of several snapshots, so `attempt` asks only for states that do not change any more.
 */
export async function withActors<T>(
  store: Pick<AggregateStore, "loadActors">,
  runId: RunId,
  attempt: (state: ActorReader) => Promise<T>,
): Promise<T> {
  const known = new Map<string, unknown>();
  for (;;) {
    const missing = new Set<string>();
    const read: ActorReader = (id) => {
      if (!known.has(id)) missing.add(id);
      return known.get(id);
    };
    const result = await settled(attempt(read));
    if (missing.size === 0) return result();
    const ids = [...missing];
    const found = await store.loadActors(runId, ids);
    const states = new Map(found?.actors.map(({ id, state }) => [id, state]));
    for (const id of ids) known.set(id, states.get(id));
  }
}

/** Keeps an error until it is known whether the answers that led to it were final. */
async function settled<T>(promise: Promise<T>): Promise<() => T> {
  try {
    const value = await promise;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
