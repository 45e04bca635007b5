/** What a matrix must be beyond its shape: bounded, without repeats, and with something to run. */
import { LIMITS } from "../schema/limits.ts";
import { countCells, knownCells, type Matrix, matrixFields } from "../matrix.ts";
import { didYouMean } from "../../expressions/nearest.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** Answers how many cells there are; 0 when the matrix cannot be used. */
export function checkMatrix(source: Source, matrix: Matrix, path: Path): number {
  const isDistinct = checkAxes(source, matrix, path);
  checkExclude(source, matrix, path);
  const fields = matrixFields(matrix).length;
  if (fields > LIMITS.matrixFields) {
    const message = `cells of a matrix may have ${LIMITS.matrixFields} fields; those of this one have up to ${fields}`;
    source.report("matrix-limit", path, message);
    return 0;
  }
  const known = knownCells(matrix);
  // What an expression will give is bounded when it is known.
  if (known === undefined) return 1;
  const cells = countCells(known);
  if (cells > LIMITS.matrixCells) {
    source.report("matrix-limit", path, `a matrix may have ${LIMITS.matrixCells} cells; this one has ${cells}`);
    return 0;
  }
  if (cells === 0 && matrix.exclude.every((entry) => entry.length > 0)) {
    const why = matrix.axes.length > 0 ? "`exclude` leaves none" : "give `axes` or `include`";
    source.report("invalid-matrix", path, `this matrix has no cell: ${why}`);
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
        source.report("invalid-matrix", [...path, "axes", name, index], `this axis has the value ${text} already`);
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
