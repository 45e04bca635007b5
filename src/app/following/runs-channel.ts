/** All runs that the client may see: the state of each, whenever it changes. */
import { z } from "zod";
import { asId, type PipelineId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { isFinalRunStatus, RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import { authoriseLookUp, type Caller, mayEverywhere } from "../identity/access.ts";
import { projectFactsOf } from "../project-facts.ts";
import { actingIn } from "../reaching.ts";
import type { Followers, LiveContext } from "./followers.ts";
import { idParam, liveChannel, type LiveMessage, revisionParam, SUBSCRIBED } from "./live-channel.ts";
import type { LiveRun, RunStateOfSave } from "./run-states.ts";
import { followStates, type StateUpdate } from "./state-updates.ts";

const STATUSES = Object.keys(RUN_STATUS_CODES) as RunStatus[];

const statuses = z.string().transform((text, { issues }): ReadonlySet<RunStatus> => {
  const names = text.split(",") as RunStatus[];
  if (names.some((name) => !STATUSES.includes(name))) {
    const message = `must be some of ${STATUSES.join(", ")}, separated by commas`;
    issues.push({ code: "custom", input: text, message });
  }
  return new Set(names);
});

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
  { context, runs }: Pick<Followers, "context" | "runs">,
  caller: Caller,
  filter: RunsFilter,
  { revision, abort }: { readonly revision: string; readonly abort: AbortSignal },
): AsyncGenerator<StateUpdate<RunStateOfSave>, void, void> {
  const { tenantId, projectId, pipelineId, statuses: wanted } = filter;
  const mayRead = projectSight(context, caller);
  const isInTenant = async (of: ProjectId): Promise<boolean> =>
    tenantId === undefined || (await projectFactsOf(context, of)).tenantId === tenantId;
  return followStates(runs, {
    revision,
    abort,
    keyOf: ({ runId }) => runId,
    isOver: ({ status }) => isFinalRunStatus(status),
    async sees(run) {
      if (projectId !== undefined && run.projectId !== projectId) return false;
      if (pipelineId !== undefined && run.pipelineId !== pipelineId) return false;
      return (await mayRead(run.projectId)) && isInTenant(run.projectId);
    },
    wants: wanted === undefined ? undefined : ({ status }) => wanted.has(status),
  });
}

/** Answers whether the caller may read the runs of a project. Throws `forbidden` for a caller who may read none. */
function projectSight(context: LiveContext, caller: Caller): (projectId: ProjectId) => Promise<boolean> {
  const user = authoriseLookUp(caller, "readRuns");
  if (mayEverywhere(user, "readRuns")) return () => Promise.resolve(true);
  const known = new Map<ProjectId, Promise<boolean>>();
  return (projectId) => {
    let answer = known.get(projectId);
    if (answer === undefined) {
      answer = actingIn(context, user, projectId).then((acting) => acting !== undefined);
      known.set(projectId, answer);
    }
    return answer;
  };
}

export const RUNS_CHANNEL = liveChannel({
  name: "runs",
  about: "Follows the state of all runs that the caller may see: those that have not ended, then each change.",
  params: z.strictObject({
    tenantId: idParam.optional(),
    projectId: idParam.optional(),
    pipelineId: idParam.optional(),
    /** Some statuses, separated by commas. */
    status: statuses.optional(),
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
