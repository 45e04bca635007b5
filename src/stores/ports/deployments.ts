/**
 * The port of deployments: jobs with a target that have started. They are projections of the actors of jobs, which the save of a turn
 * writes with these, and end with their run.
 */
import type { DeploymentIndex } from "../../domain/environments.ts";
import type { JobRunId, PipelineId, ProjectId, RunId } from "../../domain/ids.ts";
import type { JobStatus } from "../../domain/status.ts";
import type { ListKey } from "./pages.ts";

export interface Deployment extends DeploymentIndex {
  readonly jobId: JobRunId;
  readonly runId: RunId;
  readonly status: JobStatus;
  /** Unix milliseconds; null before the end. */
  readonly endedAt: number | null;
}

/** To what a pipeline deploys. Lists are sorted by these fields, in the order of their bytes. */
export interface EnvironmentKey {
  readonly projectId: ProjectId;
  readonly environment: string;
  readonly pipelineId: PipelineId;
}

/** Which deployments to an environment are meant; what is absent excludes none. */
export interface DeploymentFilter {
  readonly projectId: ProjectId;
  readonly environment: string;
  readonly pipelineId?: PipelineId | undefined;
  readonly status?: JobStatus | undefined;
}

export interface DeploymentStore {
  /** The first environment behind a place, which need not exist; undefined behind the last one. Reads one entry of an index. */
  nextEnvironment(after: EnvironmentKey): Promise<EnvironmentKey | undefined>;
  /** The newest first. A status is compared within the index; all other fields are found by it. */
  list(
    filter: DeploymentFilter,
    page: { readonly limit: number; readonly after?: ListKey | undefined },
  ): Promise<readonly Deployment[]>;
}
