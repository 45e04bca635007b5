/** The rows of environments. */
import type { HttpRow } from "./http-rows.ts";

export const ENVIRONMENT_ROWS: readonly HttpRow[] = [
  { route: "GET /environments", operation: "readRuns", kind: "list" },
  {
    route: "GET /environments/deployments",
    operation: "readRuns",
    at: ({ projectId }) => ({ projectId, environment: "production" }),
  },
];
