/** `millrace environments`: what was deployed where. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { findPipeline, findProject } from "../../remote/find.ts";
import type { Column } from "../../remote/report.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";
import { takeItems } from "../../remote/take.ts";

export interface EnvironmentOptions extends RemoteOptions {
  readonly project?: string;
  readonly limit: number;
}

export interface DeploymentOptions extends EnvironmentOptions {
  readonly pipeline?: string;
  readonly status?: Schemas["Deployment"]["status"];
}

const ENVIRONMENT_COLUMNS: readonly Column<Schemas["Environment"]>[] = [
  { title: "environment", text: ({ environment }) => environment },
  { title: "pipeline", text: ({ pipeline }) => pipeline },
  { title: "commit", text: ({ current }) => current?.commitSha.slice(0, 30) ?? "-" },
  { title: "ref", text: ({ current }) => current?.ref ?? "-" },
  { title: "deployed", text: ({ current }) => current?.endedAt ?? "-" },
  { title: "by run", text: ({ current }) => current?.runId ?? "-" },
  { title: "last", text: ({ last }) => last.status },
];

const DEPLOYMENT_COLUMNS: readonly Column<Schemas["Deployment"]>[] = [
  { title: "started", text: ({ startedAt }) => startedAt },
  { title: "status", text: ({ status }) => status },
  { title: "job", text: ({ job }) => job },
  { title: "commit", text: ({ commitSha }) => commitSha.slice(0, 30) },
  { title: "ref", text: ({ ref }) => ref },
  { title: "by", text: ({ triggeredBy }) => triggeredBy },
  { title: "run", text: ({ runId }) => runId },
];

export function listEnvironments(
  environment: string | undefined,
  { project, limit, ...options }: EnvironmentOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const projectId = project === undefined ? undefined : (await findProject(client, project)).projectId;
    const query = { projectId, environment, limit: Math.min(limit, 100) };
    const items = await takeItems(client.items("/environments", { query, signal }), limit);
    report.list(items, ENVIRONMENT_COLUMNS, "no environments: no job with a target has begun");
  });
}

export function listDeployments(
  environment: string,
  { project = "default", pipeline, status, limit, ...options }: DeploymentOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { projectId } = await findProject(client, project);
    const pipelineId = pipeline === undefined ? undefined : (await findPipeline(client, pipeline, project)).pipelineId;
    const query = { projectId, environment, pipelineId, status, limit: Math.min(limit, 100) };
    const items = await takeItems(client.items("/environments/deployments", { query, signal }), limit);
    report.list(items, DEPLOYMENT_COLUMNS, `nothing was deployed to ${environment}`);
  });
}
