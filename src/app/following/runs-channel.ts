/** All runs that the client may see: the state of each, whenever it changes. */
import { z } from "zod";
import { asId, type PipelineId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { isFinalRunStatus, RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import type { Caller } from "../identity/access.ts";
import type { RightsContext } from "../reaching.ts";
import type { Followers } from "./followers.ts";
import { someOf } from "../shapes.ts";
import { idParam, liveChannel, type LiveMessage, revisionParam, SUBSCRIBED } from "./live-channel.ts";
import { projectSight } from "./project-sight.ts";
import type { LiveRun, RunStateOfSave } from "./run-states.ts";
import { followStates, type StateUpdate } from "./state-updates.ts";

export interface RunsFilter {
  readonly tenantId?: TenantId | undefined;
  readonly projectId?: ProjectId | undefined;
  readonly pipelineId?: PipelineId | undefined;
  /** Absent for all. */
  readonly statuses?: ReadonlySet<RunStatus> | undefined;
}

export type RunsUpdate = StateUpdate<LiveRun>;

/** Ends only with `abort`. Throws `unavailable` when the runs cannot be read at the start. */
export function followRuns(
  { context, runs }: Pick<Followers, "runs"> & { readonly context: RightsContext },
  caller: Caller,
  filter: RunsFilter,
  { revision, abort }: { readonly revision: string; readonly abort: AbortSignal },
): AsyncGenerator<StateUpdate<RunStateOfSave>, void, void> {
  const { tenantId, projectId, pipelineId, statuses: wanted } = filter;
  const sees = projectSight(context, caller, "readRuns", { tenantId, projectId });
  return followStates(runs, {
    revision,
    abort,
    keyOf: ({ runId }) => runId,
    isOver: ({ status }) => isFinalRunStatus(status),
    sees: (run) => (pipelineId === undefined || run.pipelineId === pipelineId) && sees(run.projectId),
    wants: wanted === undefined ? undefined : ({ status }) => wanted.has(status),
  });
}

export const RUNS_CHANNEL = liveChannel({
  name: "runs",
  about: "Follows the state of all runs that the caller may see: those that have not ended, then each change.",
  params: z.strictObject({
    tenantId: idParam.optional(),
    projectId: idParam.optional(),
    pipelineId: idParam.optional(),
    status: someOf(Object.keys(RUN_STATUS_CODES) as RunStatus[]).optional(),
    after: revisionParam.optional(),
  }),
  async *follow(followers, caller, { params, abort }) {
    const { tenantId, projectId, pipelineId, status, after = "" } = params;
    const filter: RunsFilter = {
      tenantId: tenantId === undefined ? undefined : asId<TenantId>(tenantId),
      projectId: projectId === undefined ? undefined : asId<ProjectId>(projectId),
      pipelineId: pipelineId === undefined ? undefined : asId<PipelineId>(pipelineId),
      statuses: status,
    };
    const updates = followRuns(followers, caller, filter, { revision: after, abort });
    yield SUBSCRIBED;
    for await (const update of updates) yield messageOf(update);
  },
});

function messageOf(update: RunsUpdate): LiveMessage {
  const { revision: after } = update;
  if (update.type !== "change") return { type: update.type, json: "null", after };
  const { runId, pipelineId, projectId, status, waitingFor, eventNumber } = update.change.state;
  if (update.change.isRemoved) return { type: "removed", json: JSON.stringify({ runId }), after };
  const run: LiveRun = { runId, pipelineId, projectId, status, waitingFor, eventNumber };
  return { type: "run", json: JSON.stringify(run), after };
}
