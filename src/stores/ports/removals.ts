/**
 * Runs that are removed, from before anything of them is gone: what was cut off is finished from here, and what is left of
 * a removal keeps repeats of earlier calls from bringing the run back.
 */
import type { RunId } from "../../domain/ids.ts";
import type { RunRecords } from "./run-removal.ts";

export interface Removal extends RunRecords {
  /** Unix milliseconds. */
  readonly at: number;
  /** It repeats a run that may still be there: it is remembered until that one is removed, too. */
  readonly isRepeat: boolean;
  /** The claim for the run that repeats it, which goes with it, and that run. */
  readonly succession: { readonly key: string; readonly runId: RunId };
}

export interface RemovalStore {
  /** A repeat changes nothing. */
  begin(removal: Removal): Promise<void>;
  /** Those that were begun and not finished, in no certain order. */
  unfinished(limit: number): Promise<readonly Removal[]>;
  /** `removal` is null once it is finished. */
  find(runId: RunId): Promise<{ readonly removal: Removal | null } | undefined>;
  /** Nothing but the fact is kept. */
  finish(runId: RunId): Promise<void>;
  /** Forgets at most `limit` that are finished and were begun before `before`, repeats left out; answers how many. */
  forget(before: number, limit: number): Promise<number>;
  /** Forgets one, if it is there. */
  drop(runId: RunId): Promise<void>;
}
