/**
 * Bounds of retention as operators write them: `90d`, `1000/pipeline`, `90d,1000/pipeline,20000/project`, `forever`.
 */
import { parseDuration } from "./durations.ts";
import type { Bound } from "./retention.ts";

export const UNBOUNDED: Bound = { ageMs: null, perPipeline: null, perProject: null };
export const MAX_KEPT_RUNS = 100_000_000;
const MIN_AGE_MS = 1_000;
const MAX_AGE_MS = 36_500 * 86_400_000;

/** An age in milliseconds; undefined when the text is not a duration from 1 s to 100 years. */
export function parseAge(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= MIN_AGE_MS && ms <= MAX_AGE_MS ? ms : undefined;
}

/** The shortest text for an age that {@link parseAge} reads. */
export function formatAge(ms: number): string {
  for (const [unit, unitMs] of [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
  ] as const) {
    if (ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  }
  return `${ms}ms`;
}

/** The bound that a text describes; undefined when the text is not a bound, or gives a part twice. */
export function parseBound(text: string): Bound | undefined {
  if (text.trim() === "forever") return UNBOUNDED;
  const bound: { -readonly [K in keyof Bound]: Bound[K] } = { ...UNBOUNDED };
  for (const part of text.split(",").map((written) => written.trim())) {
    const [, count, of] = /^(\d{1,9})\/(pipeline|project)$/.exec(part) ?? [];
    const field = of === "pipeline" ? "perPipeline" : of === "project" ? "perProject" : "ageMs";
    const value = count === undefined ? parseAge(part) : Number(count);
    if (value === undefined || value < 1 || (count !== undefined && value > MAX_KEPT_RUNS)) return undefined;
    if (bound[field] !== null) return undefined;
    bound[field] = value;
  }
  return bound;
}
