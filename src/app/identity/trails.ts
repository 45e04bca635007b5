/** Entries of the audit log for calls that change several things. */
import type { Caller } from "./callers.ts";

/** The caller for one of several changes of a call: the change has an entry of its own. */
export function withTrailOfItsOwn(caller: Caller): Caller {
  return caller.kind === "user" && caller.trail !== undefined ? { ...caller, trail: caller.trail.another() } : caller;
}
