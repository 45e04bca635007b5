/** Rows of the live channels as event streams, and of the logs of system events. */
import type { HttpRow } from "./http-row.ts";

export const LIVE_ROWS: readonly HttpRow[] = [
  { route: "GET /live/run", operation: "readEvents", at: ({ runId }) => ({ runId }), query: "?runId=:runId" },
  { route: "GET /live/runs", operation: "readRuns", kind: "list" },
  { route: "GET /live/approvals", operation: "readApprovals", kind: "list" },
  { route: "GET /live/agents", operation: "readAgents", kind: "filtered" },
  {
    route: "GET /live/system",
    operation: "readSystemEvents",
    at: ({ tenantId }) => ({ tenantId }),
    query: "?log=:tenantId",
  },
  { route: "GET /live/system", operation: "readInstallationEvents", query: "?log=installation" },
  {
    route: "GET /system-events",
    operation: "readSystemEvents",
    at: ({ tenantId }) => ({ tenantId }),
    query: "?log=:tenantId",
  },
  { route: "GET /system-events", operation: "readInstallationEvents", query: "?log=installation" },
];
