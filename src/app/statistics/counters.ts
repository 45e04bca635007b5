/**
 * Counters of ended runs and jobs, and what is read from them. Durations are counted in classes that grow by a factor, so
 * that the counters of many runs, nodes and days can be added up. Pure.
 */
import type { Counters } from "../../stores/ports/statistics.ts";

/** Classes between a duration and its double: a class is 9 % wide. */
const CLASSES = 8;
export const DAY_MS = 86_400_000;

export const RESULTS = ["success", "failed", "partial", "cancelled"] as const;
export type Result = (typeof RESULTS)[number];
export const WAITS = ["plan", "stage", "needs", "paused", "agent", "start"] as const;

/** One ended run, or one job of it. */
export interface Sample {
  readonly result: Result;
  /** True for a success after a failure on the same revision. */
  readonly flaky: boolean;
  /** Milliseconds; null when it never began. */
  readonly durationMs: number | null;
  /** Milliseconds; a wait that did not happen is null or absent. */
  readonly waits: { readonly [W in (typeof WAITS)[number]]?: number | null };
}

export interface Distribution {
  readonly count: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
}

/** Days since 1970 in UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Adds a sample in place: a copy for each of many samples would cost more than the counting. */
export function addSample(sum: Record<string, number>, { result, flaky, durationMs, waits }: Sample): void {
  const add = (name: string) => void (sum[name] = (sum[name] ?? 0) + 1);
  add(result);
  if (flaky) add("flaky");
  if (durationMs !== null) add(`duration:${classOf(durationMs)}`);
  for (const wait of WAITS) {
    const ms = waits[wait] ?? null;
    if (ms !== null) add(`${wait}:${classOf(ms)}`);
  }
}

/** The counters of several days together. */
export function together(all: readonly Counters[]): Counters {
  const sum: Record<string, number> = {};
  for (const counters of all) {
    for (const [name, count] of Object.entries(counters)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

/** Null when nothing was counted. A value is that of its class, which is at most 5 % off. */
export function distributionOf(counters: Counters, of: "duration" | (typeof WAITS)[number]): Distribution | null {
  const classes = Object.entries(counters)
    .flatMap(([name, count]) =>
      name.startsWith(`${of}:`) ? [[Number(name.slice(of.length + 1)), count] as const] : [],
    )
    .toSorted(([a], [b]) => a - b);
  const count = classes.reduce((total, [, some]) => total + some, 0);
  if (count === 0) return null;
  const quantile = (share: number): number => {
    let left = Math.ceil(count * share);
    for (const [nth, some] of classes) {
      left -= some;
      if (left <= 0) return middleOf(nth);
    }
    return middleOf(classes.at(-1)![0]);
  };
  return { count, p50: quantile(0.5), p95: quantile(0.95) };
}

/** Class 0 is less than a millisecond. */
function classOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(CLASSES * Math.log2(ms));
}

function middleOf(nth: number): number {
  return nth === 0 ? 0 : Math.round(2 ** ((nth - 0.5) / CLASSES));
}
