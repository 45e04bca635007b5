/** Expanding a matrix into its cells: the product of the axes, less `exclude`, and what `include` adds. */
import type { Pairs } from "../domain/pairs.ts";
import type { Scalar } from "../domain/plan.ts";

/** Axes with their values, the cells that `include` adds to their product, and those that `exclude` removes from it. */
export interface Cells {
  readonly axes: Pairs<readonly Scalar[]>;
  readonly include: readonly Pairs<Scalar>[];
  readonly exclude: readonly Pairs<Scalar>[];
}

/** A matrix as written. */
export interface Matrix extends Omit<Cells, "axes"> {
  /** The values of each axis, or the text of an expression that gives them when a run is planned or during the run. */
  readonly axes: Pairs<readonly Scalar[] | string>;
  readonly failFast: boolean;
  /** How many cells may run at once; null for no bound. */
  readonly maxParallel: number | null;
}

/** A product of more cells than this is only counted, not built. */
const MAX_BUILT_CELLS = 20_000;

/**
 * The cells in the order of the axes, the last one fastest, then those that `include` adds.
 *
 * An `include` entry extends every cell of the product whose axis values it does not contradict, and becomes a cell of
 * its own when there is none. Source: GitHub Actions, "Expanding or adding matrix configurations".
 */
export function expandMatrix({ axes, include, exclude }: Cells): readonly Pairs<Scalar>[] {
  const names = new Set(axes.map(([name]) => name));
  const product = axes.reduce<ReadonlyMap<string, Scalar>[]>(
    (cells, [name, values]) => cells.flatMap((cell) => values.map((value) => new Map([...cell, [name, value]]))),
    axes.length === 0 ? [] : [new Map()],
  );
  const kept = product.filter(
    (cell) => !exclude.some((entry) => entry.every(([key, value]) => cell.get(key) === value)),
  );
  const cells = kept.map((cell) => ({ axes: cell, all: new Map(cell) }));
  const added: ReadonlyMap<string, Scalar>[] = [];
  for (const entry of include) {
    const fitting = cells.filter((cell) =>
      entry.every(([key, value]) => !names.has(key) || cell.axes.get(key) === value),
    );
    for (const cell of fitting) for (const [key, value] of entry) cell.all.set(key, value);
    if (fitting.length === 0) added.push(new Map(entry));
  }
  return [...cells.map(({ all }) => all), ...added].map((cell) => [...cell]);
}

/** How many cells a matrix has. For a product of more than 20,000 cells the answer ignores `exclude` and `include`. */
export function countCells(matrix: Cells): number {
  const product = matrix.axes.reduce((size, [, values]) => size * values.length, 1);
  return product > MAX_BUILT_CELLS ? product : expandMatrix(matrix).length;
}

/** The matrix if all of its axes are lists; undefined if an axis is an expression. */
export function knownCells({ axes, include, exclude }: Matrix): Cells | undefined {
  const lists = axes.flatMap(([name, values]) => (typeof values === "string" ? [] : [[name, values] as const]));
  return lists.length === axes.length ? { axes: lists, include, exclude } : undefined;
}

/** The fields of the `matrix` context: the names that at least one cell has. */
export function matrixFields({ axes, include }: Pick<Matrix, "axes" | "include">): readonly string[] {
  return [...new Set([...axes, ...include.flat()].map(([name]) => name))];
}
