/** Rows whose record is JSON in the column `body`. */
import type { Row } from "./database.ts";

export function bodyOf<T>(row: Row | undefined): T | undefined {
  return row === undefined ? undefined : (JSON.parse(row["body"] as string) as T);
}

export function bodiesOf<T>(rows: readonly Row[]): readonly T[] {
  return rows.map((row) => bodyOf<T>(row)!);
}
