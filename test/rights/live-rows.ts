/** Rows of the live channels as event streams. */
import type { HttpRow } from "./http-rows.ts";

export const LIVE_ROWS: readonly HttpRow[] = [
  { route: "GET /live/run", operation: "readEvents", at: ({ runId }) => ({ runId }), query: "?runId=:runId" },
  { route: "GET /live/runs", operation: "readRuns", kind: "list" },
  { route: "GET /live/approvals", operation: "readApprovals", kind: "list" },
  { route: "GET /live/agents", operation: "readAgents", kind: "filtered" },
];
