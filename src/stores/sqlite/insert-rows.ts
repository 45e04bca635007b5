/**
 * Several rows in one statement: a statement with eight rows costs little more than one with a single row, because most
 * of the cost is the call.
 */
import type { Database } from "./database.ts";

type Values = readonly (string | number | null)[];

export interface RowInsert {
  /** Up to the name of the table or its list of columns. */
  readonly insert: string;
  /** What follows the rows. */
  readonly conflict: string;
}

/** A prepared statement is kept for each number of rows, so the number is bounded. */
const ROWS_AT_ONCE = 8;

/** Runs within a transaction. All rows have as many values as the first one. */
export function insertRows(db: Database, { insert, conflict }: RowInsert, rows: readonly Values[]): void {
  if (rows.length === 0) return;
  const row = `(${rows[0]!.map(() => "?").join(", ")})`;
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const some = rows.slice(at, at + ROWS_AT_ONCE);
    db.runNow(`${insert} VALUES ${some.map(() => row).join(", ")} ${conflict}`, ...some.flat());
  }
}
