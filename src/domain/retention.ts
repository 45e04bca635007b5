/** Retention: which parts of ended runs are kept, and for how long; and how much of a log is kept at all. Pure. */
import type { RunId } from "./ids.ts";

/** `runs`: a run with everything that belongs to it. The other parts may be removed before the run. */
export const KEPT_PARTS = ["runs", "logs", "artifacts", "events"] as const;
export type KeptPart = (typeof KEPT_PARTS)[number];

/** How much of a part is kept. The part of a run that exceeds any of these is removed; null is no bound. */
export interface Bound {
  /** Greatest time since the end of the run, milliseconds. */
  readonly ageMs: number | null;
  /** Number of the newest runs of a pipeline that keep the part, from 1. */
  readonly perPipeline: number | null;
  /** Number of the newest runs of a project that keep the part, from 1. */
  readonly perProject: number | null;
}

export type RetentionRules = Readonly<Record<KeptPart, Bound>>;

/**
 * The rules of an installation. A project may have its own rule for each part, which then replaces the installation's.
 */
export interface Retention {
  readonly rules: RetentionRules;
  /**
   * How long small records without a run are kept: request ids, dead letters, reports of agents about themselves;
   * milliseconds.
   */
  readonly recordsMs: number;
  /** How long entries of the audit log are kept. */
  readonly auditMs: number;
}

/** Orders runs by the time of their creation, with the id as tie-break. */
export interface RunKey {
  readonly createdAt: number;
  readonly runId: RunId;
}

export interface AgedRun extends RunKey {
  readonly endedAt: number | null;
  /** True when the run is final and owes no effect. */
  readonly settled: boolean;
}

/** A bound, applied to the runs of one pipeline. */
export interface Limits {
  readonly ageMs: number | null;
  /** For each count of the bound, the oldest run that is still kept; null when there are fewer runs than the count. */
  readonly oldestKept: readonly (RunKey | null)[];
}

/** True when a run is beyond the limits. A run that is not settled never is. */
export function isBeyond(run: AgedRun, { ageMs, oldestKept }: Limits, now: number): boolean {
  if (!run.settled) return false;
  const isOld = ageMs !== null && (run.endedAt ?? run.createdAt) + ageMs <= now;
  return isOld || oldestKept.some((kept) => kept !== null && isBefore(run, kept));
}

/** The time of creation after which no run can be beyond the limits, Unix milliseconds; undefined when no run can. */
export function newestBeyond({ ageMs, oldestKept }: Limits, now: number): number | undefined {
  const times = oldestKept.flatMap((kept) => (kept === null ? [] : [kept.createdAt]));
  if (ageMs !== null) times.push(now - ageMs);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** True when run `a` was created before run `b`. */
export function isBefore(a: RunKey, b: RunKey): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.runId < b.runId);
}

/** Bounds on the log of one step run. */
export interface LogLimit {
  readonly lines: number;
  /** UTF-8 bytes of the lines, without their ends. */
  readonly bytes: number;
}

/**
 * How much of the end of a log is kept beyond its limit. The agent keeps it in a ring while the step runs, and sends it
 * after the step's end.
 */
export const LOG_TAIL: LogLimit = { lines: 10_000, bytes: 10_000_000 };

/** When logs go to an object storage. */
export interface ColdLogs {
  /** So long after the end of their steps, milliseconds. */
  readonly afterMs: number;
}

/**
 * What the gateway stores of one log beyond the limit and the tail: what the agent itself says about the step, and
 * lines that the limit of another moment allowed.
 */
export const LOG_SLACK: LogLimit = { lines: 1_000, bytes: 1_000_000 };

/** How many lines the limit of a project may allow at most. Line numbers have 31 bits. */
export const MAX_LOG_LINES = 999_999_999;
