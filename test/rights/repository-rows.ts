/** The rows of the routes of Git repositories, which belong to {@link HTTP_ROWS}. */
import type { HttpRow } from "./http-row.ts";
import type { World } from "./world.ts";

const onPipeline = ({ pipelineId }: World) => ({ pipelineId });
const onProject = ({ projectId }: World) => ({ projectId });

export const REPOSITORY_ROWS: readonly HttpRow[] = [
  { route: "POST /pipelines/:pipelineId/repository/check", operation: "writePipelines", at: onPipeline },
  {
    route: "POST /projects/:projectId/repository/discover",
    operation: "writePipelines",
    at: onProject,
    body: () => ({ repoUrl: "https://127.0.0.1/x.git" }),
  },
  {
    route: "POST /projects/:projectId/repository/pipelines",
    operation: "writePipelines",
    at: onProject,
    body: () => ({ repoUrl: "https://127.0.0.1/x.git", files: [{ path: ".millrace/pipeline.yaml" }] }),
  },
  { route: "POST /pipelines/:pipelineId/repository/webhook", operation: "manageHooks", at: onPipeline },
  { route: "POST /pipelines/:pipelineId/repository/webhook/check", operation: "manageHooks", at: onPipeline },
];
