/** Tables for a terminal. Pure. */

/** The rows as lines with one width a column; all columns but the first are on the right when they begin with a number. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => padded(cell, at, rows, widths[at]!))
      .join("  ")
      .trimEnd(),
  );
}

function padded(cell: string, at: number, rows: readonly (readonly string[])[], width: number): string {
  const isCount = at > 0 && rows.every((row, line) => line === 0 || /^[+-]?[\d,.]+( %)?$/.test(row[at]!));
  return isCount && rows.length > 1 ? cell.padStart(width) : cell.padEnd(width);
}
