/** Checks of a matrix beyond its shape: its bounds, duplicate values, and whether it has a cell. */
import { LIMITS } from "../schema/limits.ts";
import { countCells, knownCells, type Matrix, matrixFields } from "../matrix.ts";
import { didYouMean } from "../../expressions/nearest.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** Reports what is wrong with a matrix; answers how many cells it has, 0 when it cannot be used. */
export function checkMatrix(source: Source, matrix: Matrix, path: Path): number {
  const isDistinct = checkAxes(source, matrix, path);
  checkExclude(source, matrix, path);
  const fields = matrixFields(matrix).length;
  if (fields > LIMITS.matrixFields) {
    const message = `the cells of a matrix may have ${LIMITS.matrixFields} fields; the cells of this one have up to ${fields}`;
    source.report("matrix-limit", path, message);
    return 0;
  }
  const known = knownCells(matrix);
  // The number of cells that an expression gives is checked when its value is known.
  if (known === undefined) return 1;
  const cells = countCells(known);
  if (cells > LIMITS.matrixCells) {
    source.report("matrix-limit", path, `a matrix may have ${LIMITS.matrixCells} cells; this one has ${cells}`);
    return 0;
  }
  if (cells === 0 && matrix.exclude.every((entry) => entry.length > 0)) {
    const why = matrix.axes.length > 0 ? "`exclude` removes all of them" : "give `axes` or `include`";
    source.report("invalid-matrix", path, `this matrix has no cells: ${why}`);
  }
  return isDistinct ? cells : 0;
}

function checkAxes(source: Source, { axes }: Matrix, path: Path): boolean {
  let isDistinct = true;
  for (const [name, values] of axes) {
    if (typeof values === "string") continue;
    const seen = new Set<string>();
    for (const [index, value] of values.entries()) {
      const text = String(value);
      if (seen.has(text)) {
        isDistinct = false;
        source.report("invalid-matrix", [...path, "axes", name, index], `this axis already has the value ${text}`);
      }
      seen.add(text);
    }
  }
  return isDistinct;
}

function checkExclude(source: Source, { axes, exclude }: Matrix, path: Path): void {
  const names = axes.map(([name]) => name);
  for (const [index, entry] of exclude.entries()) {
    const at = [...path, "exclude", index];
    if (entry.length === 0) source.report("invalid-matrix", at, "this excludes every cell: name at least one axis");
    for (const [key] of entry) {
      if (names.includes(key)) continue;
      const message = `there is no axis "${clip(key)}"${didYouMean(key, names)}, so this excludes nothing`;
      source.report("invalid-matrix", [...at, key], message, { spot: "key" });
    }
  }
}
