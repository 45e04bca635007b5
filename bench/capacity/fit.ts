/** The fit of the model of capacity: what each kind of work costs, so that the sums are near what runs were measured to cost. Pure. */
import { type Amounts, WORK, type Work } from "./shapes.ts";

/** One figure of the measured runs, such as the processor time of a part of the installation. */
export interface Observation {
  readonly amounts: Amounts;
  /** What a run cost. */
  readonly cost: number;
}

/** What one of each kind of work costs. */
export type Parts = Readonly<Record<Work, number>>;

/** Costs below this share of the largest one are weighed as if they were that large: noise is not to be fitted. */
const LEAST_SHARE = 1e-3;
/** A part that would improve the fit by less stays 0. */
const LEAST_GAIN = 1e-10;

type Matrix = readonly (readonly number[])[];

/** Least squares of the relative errors, with no part below 0. */
export function fitParts(observations: readonly Observation[]): Parts {
  const least = LEAST_SHARE * Math.max(...observations.map(({ cost }) => Math.abs(cost)));
  const weights = observations.map(({ cost }) => 1 / Math.max(Math.abs(cost), least, Number.MIN_VALUE));
  // Each column has the length 1, because the amounts of lines and of runs differ by thousands.
  const weighed = observations.map(({ amounts }, row) => WORK.map((work) => amounts[work] * weights[row]!));
  const lengths = WORK.map((_, at) => Math.hypot(...weighed.map((row) => row[at]!)));
  const rows = weighed.map((row) => row.map((value, at) => value / (lengths[at]! || 1)));
  const costs = observations.map(({ cost }, row) => cost * weights[row]!);
  const parts = nonNegativeLeastSquares(rows, costs);
  return Object.fromEntries(WORK.map((work, at) => [work, parts[at]! / (lengths[at]! || 1)])) as Record<Work, number>;
}

/** What this much work costs. */
export function costOf(parts: Parts, amounts: Amounts): number {
  return WORK.reduce((sum, work) => sum + parts[work] * amounts[work], 0);
}

/**
 * The x without a value below 0 for which |rows x - costs| is least. Source: Lawson and Hanson, "Solving Least Squares
 * Problems", chapter 23.
 */
function nonNegativeLeastSquares(rows: Matrix, costs: readonly number[]): readonly number[] {
  let x = rows[0]!.map(() => 0);
  let free: readonly number[] = [];
  for (;;) {
    const left = costs.map((cost, row) => cost - dot(rows[row]!, x));
    const gains = x.map((_, at) => (free.includes(at) ? 0 : dot(columnOf(rows, at), left)));
    const best = gains.indexOf(Math.max(...gains));
    if (gains[best]! <= LEAST_GAIN) return x;
    free = [...free, best];
    for (;;) {
      const wanted = leastSquares(rows, costs, free);
      const low = free.filter((at) => wanted[at]! <= 0);
      if (low.length === 0) {
        x = wanted;
        break;
      }
      // As far toward the wanted values as no value goes below 0; what gets to 0 stays there.
      const share = Math.min(...low.map((at) => x[at]! / (x[at]! - wanted[at]!)));
      x = x.map((value, at) => value + share * (wanted[at]! - value));
      const kept = free.filter((at) => x[at]! > LEAST_GAIN);
      x = x.map((value, at) => (kept.includes(at) ? value : 0));
      // The one that was freed last may be the one that cannot rise.
      if (kept.length === free.length) return x;
      free = kept;
    }
  }
}

/** The least squares with all values but the free ones 0: the solution of the normal equations. */
function leastSquares(rows: Matrix, costs: readonly number[], free: readonly number[]): number[] {
  const columns = free.map((at) => columnOf(rows, at));
  const equations = columns.map((one) => [...columns.map((other) => dot(one, other)), dot(one, costs)]);
  for (const [at, pivot] of equations.entries()) {
    for (const [other, equation] of equations.entries()) {
      if (other === at) continue;
      const factor = equation[at]! / pivot[at]!;
      for (let column = at; column <= free.length; column++) equation[column]! -= factor * pivot[column]!;
    }
  }
  const x = rows[0]!.map(() => 0);
  for (const [at, equation] of equations.entries()) x[free[at]!] = equation[free.length]! / equation[at]!;
  return x;
}

function columnOf(rows: Matrix, at: number): readonly number[] {
  return rows.map((row) => row[at]!);
}

function dot(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}
