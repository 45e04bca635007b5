/** What is kept of runs that are over, and for how long. Pure. */
import type { RunId } from "./ids.ts";

/** `runs`: a run with all that it has left; the others may go before it. */
export const KEPT_PARTS = ["runs", "logs", "artifacts", "events"] as const;
export type KeptPart = (typeof KEPT_PARTS)[number];

/** What exceeds any of these goes; null bounds nothing. */
export interface Bound {
  /** Since the end of the run, milliseconds. */
  readonly ageMs: number | null;
  /** How many of the newest runs keep it, from 1. */
  readonly perPipeline: number | null;
  readonly perProject: number | null;
}

export type RetentionRules = Readonly<Record<KeptPart, Bound>>;

/** The rules of an installation; those of a project count in place of them, part by part. */
export interface Retention {
  readonly rules: RetentionRules;
  /** How long small records are kept that are of no run: request ids, dead letters, what agents say of themselves; milliseconds. */
  readonly recordsMs: number;
}

/** Runs are ordered by the time of their creation, with the id as tie-break. */
export interface RunKey {
  readonly createdAt: number;
  readonly runId: RunId;
}

export interface AgedRun extends RunKey {
  readonly endedAt: number | null;
  /** Final, and owes nothing. */
  readonly settled: boolean;
}

/** Where a bound lies among the runs of one pipeline. */
export interface Limits {
  readonly ageMs: number | null;
  /** The oldest runs that are still within the counts; null where there are not as many runs. */
  readonly oldestKept: readonly (RunKey | null)[];
}

/** Whether a run is beyond the limits. One that is not settled never is. */
export function isBeyond(run: AgedRun, { ageMs, oldestKept }: Limits, now: number): boolean {
  if (!run.settled) return false;
  const isOld = ageMs !== null && (run.endedAt ?? run.createdAt) + ageMs <= now;
  return isOld || oldestKept.some((kept) => kept !== null && isBefore(run, kept));
}

/** No run that was created later can be beyond the limits; undefined when none can. */
export function newestBeyond({ ageMs, oldestKept }: Limits, now: number): number | undefined {
  const times = oldestKept.flatMap((kept) => (kept === null ? [] : [kept.createdAt]));
  if (ageMs !== null) times.push(now - ageMs);
  return times.length === 0 ? undefined : Math.max(...times);
}

export function isBefore(a: RunKey, b: RunKey): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.runId < b.runId);
}
