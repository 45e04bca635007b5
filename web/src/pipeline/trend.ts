/** How the durations of the runs of a pipeline change. Pure. */

export interface EndedRun {
  readonly runId: string;
  readonly status: string;
  readonly duration: number;
}

export interface TrendPoint extends EndedRun {
  /** Of the successful runs up to this one, of which at most {@link WINDOW} count; null before the first. */
  readonly median: number | null;
}

export interface Trend {
  /** The oldest first. */
  readonly points: readonly TrendPoint[];
  /** The longest duration that the chart has room for. */
  readonly most: number;
  /** The last successful runs against those before; null while there are too few. */
  readonly change: { readonly runs: number; readonly median: number; readonly percent: number } | null;
  /** Failures of the last runs and of as many before; null while there are too few. */
  readonly failures: { readonly runs: number; readonly now: number; readonly before: number } | null;
}

const WINDOW = 9;
/** A comparison of fewer runs would tell of chance alone. */
const LEAST = 5;
const GROUP = 20;
/** One run that took far longer than the others leaves room for them. */
const MOST_MEDIANS = 6;

/** `runs`: ended ones, the newest first, as the API lists them. */
export function trendOf(runs: readonly EndedRun[]): Trend {
  const ordered = runs.toReversed();
  const successes: number[] = [];
  const points = ordered.map((run) => {
    if (run.status === "success") successes.push(run.duration);
    return { ...run, median: successes.length === 0 ? null : medianOf(successes.slice(-WINDOW)) };
  });
  const longest = Math.max(1, ...ordered.map(({ duration }) => duration));
  const whole = medianOf(successes);
  const most = whole === 0 ? longest : Math.min(longest, Math.max(whole * MOST_MEDIANS, 1));
  return { points, most, change: changeOf(successes), failures: failuresOf(runs) };
}

function changeOf(successes: readonly number[]): Trend["change"] {
  const size = Math.min(GROUP, Math.floor(successes.length / 2));
  if (size < LEAST) return null;
  const median = medianOf(successes.slice(-size));
  const before = medianOf(successes.slice(-2 * size, -size));
  return { runs: size, median, percent: before === 0 ? 0 : Math.round((median / before - 1) * 100) };
}

function failuresOf(runs: readonly EndedRun[]): Trend["failures"] {
  const size = Math.min(GROUP, Math.floor(runs.length / 2));
  if (size < LEAST) return null;
  const failed = (list: readonly EndedRun[]): number =>
    list.filter(({ status }) => status === "failed" || status === "partial").length;
  return { runs: size, now: failed(runs.slice(0, size)), before: failed(runs.slice(size, 2 * size)) };
}

/** The lower one of the two in the middle; 0 of none. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? 0;
}
