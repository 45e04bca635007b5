/** Changes of an object that are to be made only on a certain state of it. */
import { MillraceError } from "../domain/errors.ts";

/** Throws `precondition_failed` when the object is not as the caller demands it. */
export type Precondition<V> = (before: V) => void;

/** Of a call that changes an object: absent for a change that is made on any state. */
export interface WithPrecondition<V> {
  readonly match?: Precondition<V> | undefined;
}

/** What an attempt answers when another call has changed the object since the attempt has read it. */
export const MOVED = Symbol("moved");
/** Each further attempt means that another call has made its change. */
const TRIES = 20;

/**
 * Makes a change that the store makes only while the object is as the attempt has read it. An attempt that comes too late
 * is followed by another one, which reads the object again and so finds out whether it still is as the caller demands.
 * Throws `unavailable` when others change the object all the time.
 */
export async function changeUnmoved<T>(attempt: () => Promise<T | typeof MOVED>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    const result = await attempt();
    if (result !== MOVED) return result;
  }
  throw new MillraceError("unavailable", "others change this object all the time: try again");
}
