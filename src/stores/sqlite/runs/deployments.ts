/** Deployments in SQLite: the rows of jobs that deploy. */
import type { JobRunId, PipelineId, ProjectId, RunId } from "../../../domain/ids.ts";
import type { Deployment, DeploymentFilter, DeploymentStore, EnvironmentKey } from "../../ports/aggregates.ts";
import type { ListKey } from "../../ports/pages.ts";
import type { Database, Row } from "../database.ts";

export function deploymentStore(db: Database): DeploymentStore {
  return {
    async nextEnvironment({ projectId, environment, pipelineId }) {
      const row = await db.get(
        `SELECT project_id, environment, pipeline_id FROM actors INDEXED BY deployments_by_pipeline
         WHERE environment IS NOT NULL AND (project_id, environment, pipeline_id) > (?, ?, ?)
         ORDER BY project_id, environment, pipeline_id LIMIT 1`,
        projectId,
        environment,
        pipelineId,
      );
      return row && toKey(row);
    },
    async list(filter, { limit, after }) {
      const { clauses, values } = conditionsOf(filter, after);
      const rows = await db.all(
        `SELECT *, json_extract(state, '$.endedAt') AS ended_at, json_extract(state, '$.deployment.job') AS job
         FROM actors INDEXED BY ${filter.pipelineId === undefined ? "deployments_by_time" : "deployments_by_pipeline"}
         WHERE environment IS NOT NULL AND ${clauses.join(" AND ")} ORDER BY requested_at DESC, id DESC LIMIT ?`,
        ...values,
        limit,
      );
      return rows.map(toDeployment);
    },
  };
}

function conditionsOf({ projectId, environment, pipelineId, status }: DeploymentFilter, after: ListKey | undefined) {
  const conditions: readonly (readonly [clause: string, values: readonly (string | number)[]])[] = [
    ["project_id = ?", [projectId]],
    ["environment = ?", [environment]],
    ...(pipelineId === undefined ? [] : [["pipeline_id = ?", [pipelineId]] as const]),
    ...(status === undefined ? [] : [["status = ?", [status]] as const]),
    ...(after === undefined ? [] : [["(requested_at, id) < (?, ?)", [after.at, after.id]] as const]),
  ];
  return { clauses: conditions.map(([clause]) => clause), values: conditions.flatMap(([, values]) => values) };
}

function toKey(row: Row): EnvironmentKey {
  return {
    projectId: row["project_id"] as ProjectId,
    environment: row["environment"] as string,
    pipelineId: row["pipeline_id"] as PipelineId,
  };
}

function toDeployment(row: Row): Deployment {
  return {
    ...toKey(row),
    jobId: row["id"] as JobRunId,
    runId: row["root_id"] as RunId,
    job: row["job"] as string,
    status: row["status"] as Deployment["status"],
    startedAt: row["requested_at"] as number,
    endedAt: row["ended_at"] as number | null,
  };
}
