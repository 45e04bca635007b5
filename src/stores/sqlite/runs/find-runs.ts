/**
 * Searches for runs in the embedded store. One index answers the part of a search that excludes most; what it leaves is
 * looked at run by run, some at a time, and only so far.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunId } from "../../../domain/ids.ts";
import type { AggregateHead, RunSearch, RunSearchPage, RunSearchPlace } from "../../ports/aggregates.ts";
import type { ListKey } from "../../ports/pages.ts";
import type { Database, Row } from "../database.ts";
import { LISTED } from "./list-runs.ts";
import { toHead } from "./rows.ts";

/** Runs that are looked at in one turn of the event loop; they take about a millisecond. */
const LOOKED_AT_AT_ONCE = 300;
/** Runs that are looked at for one page. A page that would need more is short. */
const LOOKED_AT = 2_400;
/** Parts of an index that are read and merged: one for each status or project that a search names. */
const MAX_PARTS = 16;

type Value = string | number;

/** A condition that an index or a look at the run decides. */
interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

interface IndexParts {
  readonly index: string;
  /** The search is the union of these parts of the index. */
  readonly parts: readonly Condition[];
  /** What is left to be looked at. */
  readonly rest: readonly Condition[];
}

const BY_USER = "json_extract(origin, '$.triggeredBy')";
const BY_REF = "json_extract(origin, '$.trigger.ref')";
const BY_KIND = "json_extract(origin, '$.trigger.kind')";

export async function findRuns(
  db: Database,
  search: RunSearch,
  { limit, after, isKnown }: RunSearchPlace,
): Promise<RunSearchPage> {
  const { index, parts, rest } = indexFor(search);
  if (parts.length === 0) return { list: [], next: null };
  const atOnce = rest.length === 0 ? limit : LOOKED_AT_AT_ONCE;
  const list: AggregateHead[] = [];
  let place: ListKey = after ?? { at: Number.MAX_SAFE_INTEGER, id: "" };
  if (search.before !== undefined && search.before <= place.at) place = { at: search.before, id: "" };
  for (let lookedAt = 0; ; await nextTurn()) {
    const keys = await candidates(db, { index, parts, place, from: search.from ?? 0, limit: atOnce });
    lookedAt += keys.length;
    const unknown = isKnown === undefined ? keys : keys.filter(({ id }) => !isKnown(id as RunId));
    const found = await db.all(
      `SELECT ${LISTED} FROM aggregates WHERE root_id IN (SELECT value FROM json_each(?))
         ${rest.map(({ sql }) => `AND ${sql}`).join(" ")} ORDER BY created_at DESC, root_id DESC`,
      JSON.stringify(unknown.map(({ id }) => id)),
      ...rest.flatMap(({ values }) => values),
    );
    list.push(...found.slice(0, limit - list.length).map((row) => toHead(row)));
    const last = list.length === limit ? keyOf(list.at(-1)!) : keys.at(-1);
    const isEnd = keys.length < atOnce && list.length < limit;
    if (isEnd || last === undefined) return { list, next: null };
    if (list.length === limit || lookedAt >= LOOKED_AT) return { list, next: last };
    place = last;
  }
}

function keyOf({ rootId, summary }: AggregateHead): ListKey {
  return { at: summary.createdAt, id: rootId };
}

/** The newest runs of the parts behind a place. Only the index is read. */
async function candidates(
  db: Database,
  {
    index,
    parts,
    place,
    from,
    limit,
  }: Pick<IndexParts, "index" | "parts"> & { readonly place: ListKey; readonly from: number; readonly limit: number },
): Promise<readonly ListKey[]> {
  const selects = parts.map(
    ({ sql }) => `SELECT * FROM (SELECT created_at AS at, root_id AS id FROM aggregates INDEXED BY ${index}
      WHERE ${sql} AND pipeline_id <> '' AND created_at >= ? AND (created_at, root_id) < (?, ?)
      ORDER BY created_at DESC, root_id DESC LIMIT ?)`,
  );
  const rows = await db.all(
    `${selects.join(" UNION ALL ")} ORDER BY at DESC, id DESC LIMIT ?`,
    ...parts.flatMap(({ values }) => [...values, from, place.at, place.id, limit]),
    limit,
  );
  return rows.map((row: Row) => ({ at: row["at"] as number, id: row["id"] as string }));
}

/** The index for a search, by what excludes most. */
function indexFor(search: RunSearch): IndexParts {
  const { pipelineId, projectIds, statuses, triggeredBy, ref, trigger } = search;
  const conditions = {
    pipeline: pipelineId === undefined ? undefined : [equal("pipeline_id", pipelineId)],
    projects: projectIds?.map((projectId) => equal("project_id", projectId)),
    statuses: statuses?.map((status) => equal("status", status)),
    user: triggeredBy === undefined ? undefined : [equal(BY_USER, triggeredBy)],
    ref: ref === undefined ? undefined : [equal(BY_REF, ref)],
    trigger: trigger === undefined ? undefined : [equal(BY_KIND, trigger)],
  };
  type Name = keyof typeof conditions;
  const choices: readonly (readonly [index: string, names: readonly Name[]])[] = [
    ["aggregates_by_user", ["user"]],
    ["aggregates_by_status", ["pipeline", "statuses"]],
    ["aggregates_by_pipeline", ["pipeline"]],
    ["aggregates_by_ref", ["ref"]],
    ["aggregates_by_project_status", ["projects", "statuses"]],
    ["aggregates_by_project", ["projects"]],
    ["aggregates_by_any_status", ["statuses"]],
    ["aggregates_by_trigger", ["trigger"]],
    ["aggregates_by_time", []],
  ];
  for (const [index, names] of choices) {
    if (names.some((name) => conditions[name] === undefined)) continue;
    const parts = names.reduce<readonly Condition[]>(
      (some, name) => some.flatMap((part) => conditions[name]!.map((one) => and(part, one))),
      [{ sql: "1 = 1", values: [] }],
    );
    if (parts.length > MAX_PARTS) continue;
    const left = (Object.keys(conditions) as Name[]).filter((name) => !names.includes(name));
    const rest = left.flatMap((name) => (conditions[name] === undefined ? [] : [anyOf(conditions[name])]));
    return { index, parts, rest };
  }
  throw new Error("a search has no index");
}

function equal(column: string, value: string): Condition {
  return { sql: `${column} = ?`, values: [value] };
}

function and(a: Condition, b: Condition): Condition {
  return { sql: `${a.sql} AND ${b.sql}`, values: [...a.values, ...b.values] };
}

/** All of them have the same column. */
function anyOf(conditions: readonly Condition[]): Condition {
  const column = conditions[0]?.sql.replace(" = ?", "") ?? "root_id";
  const values = conditions.flatMap((condition) => condition.values);
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] };
}
