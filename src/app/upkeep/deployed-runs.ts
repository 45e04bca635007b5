/** Keeps the runs of a pipeline whose deployments are what is in an environment now, although retention could remove them. */
import type { JobState } from "../../../actors/job/state.ts";
import type { RunId } from "../../domain/ids.ts";
import type { WithStores } from "../context.ts";

/** A pipeline may deploy each branch to an environment of its own. Only the newest of such runs stay. */
export const MAX_DEPLOYED_RUNS = 50;

interface Run {
  readonly runId: RunId;
}

/** For one look at the runs of one pipeline, the oldest first. */
export class DeployedRuns<R extends Run> {
  readonly #stores: WithStores<"aggregates" | "deployments">["stores"];
  /** The oldest first. */
  readonly #kept: R[] = [];

  constructor({ stores }: WithStores<"aggregates" | "deployments">) {
    this.#stores = stores;
  }

  /** Those of the next runs that may go, and those of earlier calls that are kept no more. */
  async spare(runs: readonly R[]): Promise<readonly R[]> {
    const deployed = await Promise.all(runs.map(({ runId }) => this.#isThere(runId)));
    this.#kept.push(...runs.filter((_, at) => deployed[at]));
    const older = this.#kept.splice(0, Math.max(0, this.#kept.length - MAX_DEPLOYED_RUNS));
    return [...older, ...runs.filter((_, at) => !deployed[at])];
  }

  /** Whether a deployment of the run is the newest success of its pipeline in an environment. */
  async #isThere(runId: RunId): Promise<boolean> {
    const { aggregates, deployments } = this.#stores;
    const found = new Map(
      ((await aggregates.load(runId))?.actors ?? []).flatMap(({ kind, index, state }) => {
        const deployment = kind === "job" ? (state as JobState).deployment : undefined;
        return deployment !== undefined && index.status === "success" ? [[deployment.environment, deployment]] : [];
      }),
    );
    for (const { projectId, environment, pipelineId } of found.values()) {
      const filter = { projectId, environment, pipelineId, status: "success" } as const;
      const [current] = await deployments.list(filter, { limit: 1 });
      if (current?.runId === runId) return true;
    }
    return false;
  }
}
