/** Finds runs across pipelines and projects. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type PipelineId, type ProjectId } from "../../domain/ids.ts";
import { RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import type { RunSearch } from "../../stores/ports/aggregates.ts";
import { readAgents } from "../agents/inventory.ts";
import type { Caller } from "../identity/access.ts";
import { afterField, count, cursorOf } from "../lists.ts";
import { projectIdsFor } from "../reaching.ts";
import { fields, listOf } from "../shapes.ts";
import type { RunsContext } from "./context.ts";
import { RunShape, TRIGGER_KINDS } from "./run-shapes.ts";
import { runView } from "./run-view.ts";

const MAX_LIMIT = 100;
const STATUSES = Object.keys(RUN_STATUS_CODES) as RunStatus[];

const statuses = z.string().transform((text, { issues }): readonly RunStatus[] => {
  const names = new Set(text.split(","));
  const unknown = [...names].filter((name) => !STATUSES.includes(name as RunStatus));
  if (unknown.length > 0) {
    const message = `must be some of ${STATUSES.join(", ")}, separated by commas`;
    issues.push({ code: "custom", input: text, message });
  }
  return [...names] as RunStatus[];
});

const moment = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

export const findRunsQuery = z.strictObject({
  limit: count(MAX_LIMIT).default(20),
  after: afterField.optional(),
  /** Only runs that the caller has triggered. */
  mine: z.enum(["true", "false"]).default("false"),
  projectId: z.string().max(64).optional(),
  pipelineId: z.string().max(64).optional(),
  /** Some statuses, separated by commas. */
  status: statuses.optional(),
  ref: z.string().max(500).optional(),
  trigger: z.enum(TRIGGER_KINDS).optional(),
  triggeredBy: z.string().max(200).optional(),
  /** Created at this time or later. */
  from: moment.optional(),
  /** Created before this time. */
  before: moment.optional(),
});

export const FoundRunsShape = fields(() => ({
  list: listOf(RunShape),
  /** `after` of the next page; null on the last one. A page may be short although there is another one. */
  next: z.string().nullable(),
}));

/** Runs of the projects that the caller may see, newest first. Throws `malformed_request` for `mine` of another user. */
export async function findRuns(
  context: RunsContext,
  caller: Caller,
  input: z.output<typeof findRunsQuery>,
): Promise<z.infer<typeof FoundRunsShape>> {
  const { user, projectIds } = await projectIdsFor(context, caller, "readRuns");
  const { limit, after, mine, projectId, pipelineId, status, triggeredBy, ...others } = input;
  if (mine === "true" && triggeredBy !== undefined && triggeredBy !== user.name) {
    throw new MillraceError("malformed_request", "`mine` names the caller: leave `triggeredBy` out");
  }
  const search: RunSearch = {
    ...others,
    pipelineId: pipelineId === undefined ? undefined : asId<PipelineId>(pipelineId),
    projectIds: projectsOf(projectIds, projectId),
    // Every status is no condition.
    statuses: status !== undefined && status.length < STATUSES.length ? status : undefined,
    triggeredBy: mine === "true" ? user.name : triggeredBy,
  };
  const { list, next } = await context.stores.aggregates.findRuns(search, { limit, after });
  const waiting = list.filter(({ summary }) => summary.waits?.reason === "agent");
  const agents = await readAgents(context, [...new Set(waiting.map(({ summary }) => summary.projectId))]);
  const now = context.clock.now();
  return { list: list.map((head) => runView(head, agents, now)), next: next === null ? null : cursorOf(next) };
}

/** Of the projects that the caller may see (undefined: all), the one that is asked for. */
export function projectsOf(
  visible: readonly ProjectId[] | undefined,
  asked: string | undefined,
): readonly ProjectId[] | undefined {
  if (asked === undefined) return visible;
  const projectId = asId<ProjectId>(asked);
  return visible === undefined || visible.includes(projectId) ? [projectId] : [];
}
