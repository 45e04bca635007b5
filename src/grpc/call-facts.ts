import type { Caller } from "../app/identity/access.ts";

/** What the handler of a call knows of it besides its request. */
export interface CallFacts {
  readonly caller: Caller;
  /** The token of the call. */
  readonly bearer: string;
  /** Fires when the caller cancels or disconnects, and when the call has ended. */
  readonly hungUp: AbortSignal;
  /** Milliseconds until the caller's deadline; Infinity without a deadline. */
  readonly leftMs: number;
}
