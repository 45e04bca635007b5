/** Rows of runs, of what they have deployed and of what waits in them, over several pipelines. */
import type { HttpRow } from "./http-row.ts";

export const LIST_ROWS: readonly HttpRow[] = [
  { route: "GET /runs", operation: "readRuns", kind: "list" },
  { route: "GET /approvals", operation: "readApprovals", kind: "list" },
  { route: "GET /environments", operation: "readRuns", kind: "list" },
  {
    route: "GET /environments/deployments",
    operation: "readRuns",
    at: ({ projectId }) => ({ projectId }),
    query: "?projectId=:projectId&environment=production",
  },
];
