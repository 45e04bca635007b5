/** Expanding a matrix into its cells: the product of the axes, less `exclude`, and what `include` adds. */
import type { Pairs, Scalar } from "../domain/plan.ts";
import type { Matrix } from "./definition.ts";

type Cell = ReadonlyMap<string, Scalar>;

/** Above this many the product is not built, only counted. */
const BUILD_MAX = 20_000;

/**
 * The cells in the order of the axes, the last one fastest, then those that `include` adds.
 *
 * An `include` entry extends every cell of the product whose axis values it does not contradict, and becomes a cell of
 * its own when there is none. Source: GitHub Actions, "Expanding or adding matrix configurations".
 */
export function expandMatrix({ axes, include, exclude }: Matrix): readonly Pairs<Scalar>[] {
  const names = axes.map(([name]) => name);
  const product = axes.reduce<Cell[]>(
    (cells, [name, values]) => cells.flatMap((cell) => values.map((value) => new Map([...cell, [name, value]]))),
    axes.length === 0 ? [] : [new Map()],
  );
  const kept = product.filter(
    (cell) => !exclude.some((entry) => entry.every(([key, value]) => cell.get(key) === value)),
  );
  const cells = kept.map((cell) => ({ axes: cell, all: new Map(cell) }));
  const added: Map<string, Scalar>[] = [];
  for (const entry of include) {
    const fitting = cells.filter((cell) =>
      entry.every(([key, value]) => !names.includes(key) || cell.axes.get(key) === value),
    );
    for (const cell of fitting) for (const [key, value] of entry) cell.all.set(key, value);
    if (fitting.length === 0) added.push(new Map(entry));
  }
  return [...cells.map(({ all }) => all), ...added].map((cell) => [...cell]);
}

/** How many cells there are; where the product is too large to be built, its size without `exclude`. */
export function countCells(matrix: Matrix): number {
  const product = matrix.axes.reduce((size, [, values]) => size * values.length, 1);
  return product > BUILD_MAX ? product : expandMatrix(matrix).length;
}

/** Reads a matrix that has not been validated; what has no sense is left out. */
export function toMatrix(raw: Readonly<Record<string, unknown>>): Matrix {
  const axes = Object.entries(raw["axes"] ?? {}).flatMap(([name, values]): [string, Scalar[]][] =>
    Array.isArray(values) ? [[name, values.filter(isScalar)]] : [],
  );
  const cells = (list: unknown): Pairs<Scalar>[] =>
    (Array.isArray(list) ? list : []).map((cell) =>
      Object.entries((cell ?? {}) as object).filter((entry): entry is [string, Scalar] => isScalar(entry[1])),
    );
  return { axes, include: cells(raw["include"]), exclude: cells(raw["exclude"]) };
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
