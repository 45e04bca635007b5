/** Expanding a matrix into its cells: the product of the axes, less `exclude`, and what `include` adds. */
import type { Pairs, Scalar } from "../domain/plan.ts";

/** Axes with their values, and the cells that are added to or left out of their product. */
export interface Cells {
  readonly axes: Pairs<readonly Scalar[]>;
  readonly include: readonly Pairs<Scalar>[];
  readonly exclude: readonly Pairs<Scalar>[];
}

/** A matrix as written: an axis may be an expression whose value is known later. */
export interface Matrix extends Omit<Cells, "axes"> {
  readonly axes: Pairs<readonly Scalar[] | string>;
  readonly failFast: boolean;
  /** Or null for no bound. */
  readonly maxParallel: number | null;
}

/** Above this many the product is not built, only counted. */
const BUILD_MAX = 20_000;

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

/** How many cells there are; where the product is too large to be built, its size without `exclude`. */
export function countCells(matrix: Cells): number {
  const product = matrix.axes.reduce((size, [, values]) => size * values.length, 1);
  return product > BUILD_MAX ? product : expandMatrix(matrix).length;
}

/** The matrix when all its axes are lists, else undefined. */
export function knownCells({ axes, include, exclude }: Matrix): Cells | undefined {
  const lists = axes.flatMap(([name, values]) => (typeof values === "string" ? [] : [[name, values] as const]));
  return lists.length === axes.length ? { axes: lists, include, exclude } : undefined;
}

/** Names that `matrix` has in some cell. */
export function matrixFields({ axes, include }: Pick<Matrix, "axes" | "include">): readonly string[] {
  return [...new Set([...axes, ...include.flat()].map(([name]) => name))];
}
