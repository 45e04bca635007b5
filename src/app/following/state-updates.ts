/** A state feed as one client follows it: the objects that the client may see and asks for. */
import { LONGEST_TIMER_MS } from "../../domain/clock.ts";
import type { StateChange } from "./state-log.ts";
import type { StateFeed } from "./state-feed.ts";
import { Signal } from "../signal.ts";

/** Changes that are looked at in one go. */
const CHANGES_AT_ONCE = 100;

/** `reset`: the client forgets every object. `caughtUp`: the known objects are told, and what follows is live. */
export type StateUpdate<T> = { readonly revision: string } & (
  | { readonly type: "reset" | "caughtUp" }
  | { readonly type: "change"; readonly change: StateChange<T> }
);

export interface StateRequest<T> {
  /** Revision of the last update that the client has; empty, or unknown to this process: all objects are told. */
  readonly revision: string;
  readonly abort: AbortSignal;
  readonly keyOf: (state: T) => string;
  /** Decides by what never changes of an object. */
  readonly sees: (state: T) => boolean | Promise<boolean>;
  /** Decides by what may change; absent: every state is asked for. An object that leaves is told once more. */
  readonly wants: ((state: T) => boolean) | undefined;
  readonly isOver: (state: T) => boolean;
}

/** Ends only with `abort`. Throws `unavailable` when the states cannot be read at the start. */
export async function* followStates<T>(
  feed: StateFeed<T>,
  { revision, abort, keyOf, sees, wants, isOver }: StateRequest<T>,
): AsyncGenerator<StateUpdate<T>, void, void> {
  const changed = new Signal();
  await feed.join(changed);
  try {
    const known = feed.numberOf(revision);
    let last = known ?? 0;
    if (known === undefined) yield { type: "reset", revision: feed.revisionOf(last) };
    /** Objects that the client was told of in a state that it asks for. */
    const told = new Set<string>();
    for (let isCaughtUp = false; !abort.aborted;) {
      const changes = feed.since(last, CHANGES_AT_ONCE);
      for (const change of changes) {
        last = change.number;
        const { state, isRemoved } = change;
        // A client that begins with all objects need not hear of those that are over already.
        if (!isCaughtUp && known === undefined && (isRemoved || isOver(state))) continue;
        if (!(await sees(state))) continue;
        const isWanted = !isRemoved && (wants?.(state) ?? true);
        // What a client that resumes was told before is not known.
        const mayKnow = wants === undefined || told.delete(keyOf(state)) || (!isCaughtUp && known !== undefined);
        if (isWanted && wants !== undefined && !isOver(state)) told.add(keyOf(state));
        if (isWanted || mayKnow) yield { type: "change", change, revision: feed.revisionOf(last) };
        if (abort.aborted) return;
      }
      if (changes.length > 0) continue;
      if (!isCaughtUp) yield { type: "caughtUp", revision: feed.revisionOf(last) };
      isCaughtUp = true;
      await changed.wait(LONGEST_TIMER_MS, abort);
    }
  } finally {
    feed.leave(changed);
  }
}
