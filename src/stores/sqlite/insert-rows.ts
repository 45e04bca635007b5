/**
 * Several rows in one statement: a statement with eight rows costs little more than one with a single row, because most
 * of the cost is the call.
 */
import type { Database } from "./database.ts";

type Values = readonly (string | number | null | Uint8Array)[];

export interface RowInsert {
  /** Up to the name of the table or its list of columns. */
  readonly insert: string;
  /** What follows the rows. */
  readonly conflict: string;
}

/** A prepared statement is kept for each number of rows, so the number is bounded. */
const ROWS_AT_ONCE = 8;

/** The text for each number of rows, kept because making and hashing it costs as much as the rows that it saves. */
const texts = new WeakMap<RowInsert, string[]>();

/** Runs within a transaction. All rows have as many values as the first one. The texts of `statement` are kept with it. */
export function insertRows(db: Database, statement: RowInsert, rows: readonly Values[]): void {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const end = Math.min(at + ROWS_AT_ONCE, rows.length);
    // `flat` asks of each value whether it is a list.
    const values: Values[number][] = [];
    for (let row = at; row < end; row++) values.push(...rows[row]!);
    db.runNow(textOf(statement, end - at, rows[at]!.length), ...values);
  }
}

function textOf(statement: RowInsert, rows: number, columns: number): string {
  const known = texts.get(statement) ?? [];
  texts.set(statement, known);
  return (known[rows] ??= textFor(statement, rows, columns));
}

function textFor({ insert, conflict }: RowInsert, rows: number, columns: number): string {
  const row = `(${Array(columns).fill("?").join(", ")})`;
  return `${insert} VALUES ${Array(rows).fill(row).join(", ")} ${conflict}`;
}
