/** Deployments in MongoDB: the read models of jobs that deploy. */
import type { Collection, Filter, IndexSpecification } from "mongodb";
import type { JobRunId, RunId } from "../../../domain/ids.ts";
import type { DeploymentIndex } from "../../../domain/plan.ts";
import type { JobStatus } from "../../../domain/status.ts";
import type { DeploymentFilter, DeploymentStore, EnvironmentKey } from "../../ports/aggregates.ts";
import type { ListKey } from "../../ports/pages.ts";
import type { Connection } from "../connection.ts";
import { behindPlace } from "../pages.ts";
import type { Row } from "../read-models.ts";

/** Only jobs that deploy are in these indexes. The status is in them for conditions on it. */
const PLACE = { "deployment.projectId": 1, "deployment.environment": 1 } as const;
const NEWEST = { "deployment.startedAt": 1, _id: 1, status: 1 } as const;
export const DEPLOYMENT_INDEXES = {
  time: { ...PLACE, ...NEWEST },
  pipeline: { ...PLACE, "deployment.pipelineId": 1, ...NEWEST },
} as const satisfies Record<string, IndexSpecification>;

type DeployingRow = Row & { readonly deployment: DeploymentIndex };
/** The parts of a row that a deployment is made of. */
const SHOWN = { deployment: 1, rootId: 1, status: 1, "state.endedAt": 1 } as const;

export function deploymentStore(connection: Connection): DeploymentStore {
  const jobs = connection.collection<Row>("job_runs");
  return {
    async nextEnvironment({ projectId, environment, pipelineId }) {
      const [project, name, pipeline] = ["projectId", "environment", "pipelineId"].map(
        (field) => `deployment.${field}`,
      );
      // Each has one range of the index: the other pipelines of the environment, the other environments of the project, and the rest.
      const places: readonly Filter<Row>[] = [
        { [project!]: projectId, [name!]: environment, [pipeline!]: { $gt: pipelineId } },
        { [project!]: projectId, [name!]: { $gt: environment } },
        { [project!]: { $gt: projectId } },
      ];
      for (const place of places) {
        const found = await firstOf(jobs, place);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async list(filter, { limit, after }) {
      const rows = await jobs
        .find<DeployingRow>(queryOf(filter, after), { projection: SHOWN })
        .hint(filter.pipelineId === undefined ? DEPLOYMENT_INDEXES.time : DEPLOYMENT_INDEXES.pipeline)
        .sort({ "deployment.startedAt": -1, _id: -1 })
        .limit(limit)
        .toArray();
      return rows.map(({ _id, rootId, status, deployment, state }) => ({
        ...deployment,
        jobId: _id as JobRunId,
        runId: rootId as RunId,
        status: status as JobStatus,
        endedAt: (state as { readonly endedAt?: number | null }).endedAt ?? null,
      }));
    },
  };
}

async function firstOf(jobs: Collection<Row>, place: Filter<Row>): Promise<EnvironmentKey | undefined> {
  const deploys = { "deployment.environment": { $exists: true } };
  const [row] = await jobs
    .find<DeployingRow>({ $and: [deploys, place] }, { projection: { deployment: 1 } })
    .hint(DEPLOYMENT_INDEXES.pipeline)
    .sort({ "deployment.projectId": 1, "deployment.environment": 1, "deployment.pipelineId": 1 })
    .limit(1)
    .toArray();
  if (row === undefined) return undefined;
  const { projectId, environment, pipelineId } = row.deployment;
  return { projectId, environment, pipelineId };
}

function queryOf(
  { projectId, environment, pipelineId, status }: DeploymentFilter,
  after: ListKey | undefined,
): Filter<Row> {
  const place = [
    ["deployment.startedAt", -1],
    ["_id", -1],
  ] as const;
  return {
    "deployment.projectId": projectId,
    "deployment.environment": environment,
    ...(pipelineId !== undefined && { "deployment.pipelineId": pipelineId }),
    ...(status !== undefined && { status }),
    ...(after !== undefined && behindPlace(place, [after.at, after.id])),
  };
}
