/** Durations as users write them: `90s`, `15m`, `2h`, `1h30m`, `500ms`. */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The form of a duration. {@link parseDuration} also refuses one that is too large to count in milliseconds. */
export const DURATION_PATTERN = /^(?:\d+(?:ms|s|m|h|d))+$/;
const PART = /(\d+)(ms|s|m|h|d)/g;

/**
 * The milliseconds of a duration, or undefined for a text that is not one. Whole numbers only; units may be chained.
 */
export function parseDuration(text: string): number | undefined {
  if (!DURATION_PATTERN.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    total += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  return Number.isSafeInteger(total) ? total : undefined;
}

/** The text that {@link parseDuration} reads as these milliseconds, in one unit. */
export function writeDuration(ms: number): string {
  const [unit, unitMs] = Object.entries(UNIT_MS).findLast(([, one]) => ms % one === 0)!;
  return `${ms / unitMs}${unit}`;
}

/** A short text for people: `1.2s`, `3m05s`, `2h10m`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  const pad = (n: number) => String(n).padStart(2, "0");
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h${pad(Math.floor((seconds % 3_600) / 60))}m`;
}
