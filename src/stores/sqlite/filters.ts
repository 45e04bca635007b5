/** The filters of lists of runs and approvals, as SQL. */
import type { ApprovalFilter, RunFilter } from "../ports/aggregates.ts";

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
