/** Schedules: what a cron trigger of a definition says, and what became of the times at which it was due. */
import { hash } from "node:crypto";
import type { PipelineId, RunId } from "./ids.ts";
import type { Pairs } from "./pairs.ts";

export const OVERLAPS = ["allow", "queue", "cancelRunning", "skip"] as const;
export type Overlap = (typeof OVERLAPS)[number];
export const CATCH_UPS = ["none", "latest", "all"] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/** A cron trigger, with the defaults of what the definition leaves out. */
export interface ScheduleSpec {
  /** Unique among the triggers of the pipeline. */
  readonly name: string;
  /** Five fields. */
  readonly schedule: string;
  /** A name of the IANA database. */
  readonly timezone: string;
  /** What to do when a run of the schedule has not ended yet. */
  readonly overlap: Overlap;
  /** Which of the runs that were missed in an outage are made up for. */
  readonly catchUp: CatchUp;
  /** How old a missed time may be to be made up for, milliseconds. */
  readonly catchUpMs: number;
  /** By how much a run may begin later than its time, milliseconds; see `delayOf`. */
  readonly jitterMs: number;
  /** The value of `trigger.ref`; null for the default branch of the pipeline. */
  readonly ref: string | null;
  readonly variables: Pairs<string>;
}

export const DEFAULT_CATCH_UP_MS = 24 * 3_600_000;

/** What a run of a schedule knows of it: the trigger, and the time at which it was due, Unix milliseconds. */
export interface ScheduledTime {
  readonly name: string;
  readonly at: number;
}

/** Why a time of a schedule has no run. */
export const SKIP_REASONS = ["missed", "later", "window", "limit", "overlap", "paused", "refused"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** What became of one time of a schedule, or of several in a row that have no run for the same reason. */
export interface Outcome {
  /** The time, or the first of them, Unix milliseconds. */
  readonly at: number;
  /** The last of them; equal to `at` for one. */
  readonly until: number;
  /** How many they are; null for too many to count. */
  readonly count: number | null;
  /** Null for times without a run. */
  readonly runId: RunId | null;
  /** Null for a time with a run. */
  readonly reason: SkipReason | null;
  /** For people; empty when the reason says it all. */
  readonly text: string;
  /** When this was decided, Unix milliseconds. */
  readonly decidedAt: number;
}

/** The answer to the start of a run: the run, or why there is none. */
export type StartOutcome = { readonly runId: RunId } | { readonly refused: string };

/** The key that one time of one trigger of a pipeline has: each is claimed once, so each has one run at most. */
export function startKeyOf(pipelineId: PipelineId, name: string, at: number): string {
  return hash("sha256", JSON.stringify(["schedule", pipelineId, name, at]), "hex");
}

/**
 * By how much the run of this time begins later: the same for each repeat, between 0 and `jitterMs`, and always before
 * `next`, the time behind it. Milliseconds.
 */
export function delayOf(key: string, { jitterMs }: Pick<ScheduleSpec, "jitterMs">, at: number, next: number): number {
  const share = Number.parseInt(key.slice(0, 8), 16) / 2 ** 32;
  return Math.floor(share * Math.min(jitterMs, next - at));
}
