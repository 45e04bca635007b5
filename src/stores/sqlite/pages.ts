/** Pages of sorted lists in SQLite, by number or behind a place. No page holds the event loop for long. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { COUNTED_AT_MOST, isTooDeep, type ListPlace, type PlacedPageRequest } from "../ports/pages.ts";
import type { Database, Row } from "./database.ts";

/** Rows that are passed over in one turn of the event loop; they take less than a millisecond. */
const PASSED_AT_ONCE = 2_500;

export type Place = readonly (string | number)[];

/** A list whose order an index has. */
export interface SortedList {
  readonly table: string;
  readonly columns: string;
  /** Without the word WHERE. */
  readonly where: string;
  readonly values: readonly (string | number)[];
  /** The columns of the order; together they are unique. A column with `ASC` or `DESC` keeps that direction. */
  readonly order: readonly string[];
}

/** The rows of a page, and how many rows the list has: at most {@link COUNTED_AT_MOST}, which stands for any more. */
export async function readPage(
  db: Database,
  list: SortedList,
  request: PlacedPageRequest,
  { placeOf = ({ at, id }) => [at, id] }: { readonly placeOf?: (after: ListPlace) => Place } = {},
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const { table, where, values } = list;
  const { page, pageSize, descending } = request;
  const counted = await db.get(
    `SELECT count(*) AS total FROM (SELECT 1 FROM ${table} WHERE ${where} LIMIT ?)`,
    ...values,
    COUNTED_AT_MOST,
  );
  const total = counted!["total"] as number;
  const columns = directed(list.order, descending);
  const read = (shown: string, place: Place | undefined, limit: number, skip: number) => {
    const behind = place === undefined ? undefined : behindPlace(columns, place);
    const sql = `SELECT ${shown} FROM ${table} WHERE ${where} ${behind === undefined ? "" : `AND ${behind.clause}`}
      ORDER BY ${columns.map(({ name, isDescending }) => `${name} ${isDescending ? "DESC" : "ASC"}`).join(", ")}
      LIMIT ? OFFSET ?`;
    return db.all(sql, ...values, ...(behind?.values ?? []), limit, skip);
  };

  let place = request.after && placeOf(request.after);
  let skip = place === undefined ? (page - 1) * pageSize : 0;
  if (isTooDeep(request) || (total < COUNTED_AT_MOST && skip >= total)) return { rows: [], total };
  const names = columns.map(({ name }, at) => `${name} AS k${at}`).join(", ");
  while (skip > PASSED_AT_ONCE) {
    const [last] = await read(names, place, 1, PASSED_AT_ONCE - 1);
    if (last === undefined) return { rows: [], total };
    place = columns.map((_, at) => last[`k${at}`] as string | number);
    skip -= PASSED_AT_ONCE;
    await nextTurn();
  }
  return { rows: await read(list.columns, place, pageSize, skip), total };
}

interface Directed {
  readonly name: string;
  readonly isDescending: boolean;
}

function directed(order: readonly string[], descending: boolean): readonly Directed[] {
  return order.map((column) => {
    const [name = column, direction] = column.split(" ");
    return { name, isDescending: direction === undefined ? descending : direction === "DESC" };
  });
}

/** The condition of the rows behind a place. Only a comparison of rows is read from an index in one go. */
function behindPlace(columns: readonly Directed[], place: Place): { readonly clause: string; readonly values: Place } {
  const [first, ...others] = columns;
  const beyond = (column: Directed) => (column.isDescending ? "<" : ">");
  if (others.every(({ isDescending }) => isDescending === first!.isDescending)) {
    const names = columns.map(({ name }) => name).join(", ");
    return { clause: `(${names}) ${beyond(first!)} (${columns.map(() => "?").join(", ")})`, values: place };
  }
  const [at, ...ids] = place;
  const rest = behindPlace(others, ids);
  const clause = `${first!.name} ${beyond(first!)}= ? AND (${first!.name} ${beyond(first!)} ? OR ${rest.clause})`;
  return { clause, values: [at!, at!, ...rest.values] };
}
