/** Rows of the logs of steps, and of what else is told of a run. */
import type { HttpRow } from "./http-row.ts";
import type { World } from "./world.ts";

const RUN = "/pipelines/:pipelineId/runs/:runId";
const onRun = ({ pipelineId, runId }: World) => ({ pipelineId, runId });
const onPipeline = ({ pipelineId }: World) => ({ pipelineId });
const onlyRun = ({ runId }: World) => ({ runId });
const onStep = ({ pipelineId, runId, stepRunId }: World) => ({ pipelineId, runId, stepRunId });

export const LOG_ROWS: readonly HttpRow[] = [
  { route: `GET ${RUN}/steps/:stepRunId/logs`, operation: "readLogs", at: onStep },
  { route: `GET ${RUN}/steps/:stepRunId/logs/text`, operation: "readLogs", at: onStep },
  { route: `GET ${RUN}/steps/:stepRunId/logs/search`, operation: "readLogs", at: onStep, query: "?q=x" },
  { route: `GET ${RUN}/logs/search`, operation: "readLogs", at: onRun, query: "?q=x" },
  { route: "GET /pipelines/:pipelineId/logs/search", operation: "readLogs", at: onPipeline, query: "?q=x" },
  { route: `GET ${RUN}/logs/archive`, operation: "readLogs", at: onRun },
  { route: "GET /pipelines/runs/:runId/annotations", operation: "readLogs", at: onlyRun },
  { route: "GET /pipelines/runs/:runId/summaries", operation: "readLogs", at: onlyRun },
  { route: "GET /pipelines/runs/:runId/test-reports", operation: "readLogs", at: onlyRun },
  { route: "GET /pipelines/runs/:runId/test-cases", operation: "readLogs", at: onlyRun },
  { route: "GET /pipelines/runs/:runId/notifications", operation: "readRuns", at: onlyRun },
  { route: "GET /pipelines/runs/:runId/commit-statuses", operation: "readRuns", at: onlyRun },
  {
    route: "GET /pipelines/runs/:runId/notifications/:notificationId",
    operation: "readRuns",
    at: ({ runId }) => ({ runId, notificationId: "msg_told" }),
    prepare: (world) => world.keepNotification(),
  },
  {
    route: "POST /pipelines/runs/:runId/notifications/:notificationId/resend",
    operation: "controlRun",
    at: ({ runId }) => ({ runId, notificationId: "msg_told" }),
    prepare: (world) => world.keepNotification(),
  },
];
