/** Lists of runs in the embedded store. No list holds the event loop for long, however many runs there are. */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type ApprovalFilter,
  type ListKey,
  MAX_COUNTED,
  type RunFilter,
  type RunPage,
  type RunPageRequest,
} from "../../ports/aggregates.ts";
import type { Database, Row } from "../database.ts";

/** The columns of a head without what it owes: a new run owes several kilobytes, and no list shows them. */
export const LISTED = `root_id, shard, schema, version, final, settled, 0 AS owes, bound, event_number, next_due_at, pipeline_id,
  project_id, status, created_at, started_at, ended_at, waits, origin`;

/** Rows that are passed over in one turn of the event loop; they take less than a millisecond. */
const PASSED_AT_ONCE = 2_500;

interface RunRows extends Omit<RunPage, "list"> {
  readonly rows: readonly Row[];
}

/** The rows of the heads of a page. */
export async function listRuns(db: Database, filter: RunFilter, request: RunPageRequest): Promise<RunRows> {
  // A filter by pipeline leaves groups out by itself: their pipeline is empty.
  const { where, values } = whereOf(filter.pipelineId === undefined ? ["pipeline_id <> ''"] : [], filter);
  const counted = await db.get(
    `SELECT count(*) AS total FROM (SELECT 1 FROM aggregates ${where} LIMIT ?)`,
    ...values,
    MAX_COUNTED + 1,
  );
  const found = counted!["total"] as number;
  const totals = { total: Math.min(found, MAX_COUNTED), totalIsExact: found <= MAX_COUNTED };

  const { pageSize, descending, page, after } = request;
  const order = descending ? "DESC" : "ASC";
  const behind = `${where} AND (created_at, root_id) ${descending ? "<" : ">"} (?, ?)`;
  const sorted = `ORDER BY created_at ${order}, root_id ${order} LIMIT ? OFFSET ?`;
  let key = after;
  let skip = after === undefined ? (page - 1) * pageSize : 0;
  while (skip > PASSED_AT_ONCE) {
    const [from, bound] = key === undefined ? [where, []] : [behind, [key.at, key.id]];
    const last = await db.get(
      `SELECT created_at, root_id FROM aggregates ${from} ${sorted}`,
      ...values,
      ...bound,
      1,
      PASSED_AT_ONCE - 1,
    );
    if (last === undefined) return { rows: [], ...totals };
    key = { at: last["created_at"] as number, id: last["root_id"] as string } satisfies ListKey;
    skip -= PASSED_AT_ONCE;
    await nextTurn();
  }
  const [from, bound] = key === undefined ? [where, []] : [behind, [key.at, key.id]];
  const rows = await db.all(`SELECT ${LISTED} FROM aggregates ${from} ${sorted}`, ...values, ...bound, pageSize, skip);
  return { rows, ...totals };
}

/** The WHERE clause for rows that meet all of `clauses` and the filter. */
export function whereOf(
  clauses: readonly string[],
  { pipelineId, projectId, projectIds, status }: RunFilter | ApprovalFilter,
): { readonly where: string; readonly values: readonly string[] } {
  const filters = Object.entries({
    "pipeline_id = ?": pipelineId,
    "project_id = ?": projectId,
    "project_id IN (SELECT value FROM json_each(?))": projectIds && JSON.stringify(projectIds),
    "status = ?": status,
  }).flatMap(([clause, value]) => (value === undefined ? [] : [{ clause, value }]));
  const all = [...clauses, ...filters.map(({ clause }) => clause)].join(" AND ");
  return { where: `WHERE ${all}`, values: filters.map(({ value }) => value) };
}
