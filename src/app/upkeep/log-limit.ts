/** How much of a step's log a project keeps, which administrators read and set. */
import { z } from "zod";
import type { ProjectId } from "../../domain/ids.ts";
import type { AppContext, WithStores } from "../context.ts";
import { id, listOf, shape, wholeNumber } from "../shapes.ts";
import type { Caller } from "../identity/access.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { changeRecord } from "../project-record.ts";
import { reachProject } from "../reaching.ts";
import { type Project, tenantOf } from "../../stores/ports/pipelines.ts";
import { effectiveLogLimit, readLayers } from "../effective-settings.ts";
import { logBytesBody, logLinesBody } from "../setting-table.ts";

const BOUNDS = ["lines", "bytes"] as const;

/** A bound that is absent is that of the installation. */
export const logLimitBody = z.strictObject({
  lines: logLinesBody.optional(),
  bytes: logBytesBody.optional(),
});

type LimitContext = Pick<AppContext, "clock" | "log" | "logLimit" | "givenVariables"> &
  WithStores<"pipelines" | "rights" | "documents">;

export const LogLimitShape = shape("LogLimit", () => ({
  projectId: id<ProjectId>(),
  lines: wholeNumber,
  /** UTF-8 bytes of the lines, without their ends. */
  bytes: wholeNumber,
  /** The bounds that the project has set itself. */
  own: listOf(z.enum(BOUNDS)),
}));

type LogLimitView = z.infer<typeof LogLimitShape>;

/** The limit that applies to the steps of the project. Throws `not_found`. */
export async function getLogLimit(
  context: LimitContext,
  caller: Caller,
  { projectId }: { readonly projectId: ProjectId },
): Promise<LogLimitView> {
  const { found: project } = await reachProject(context, caller, "readLogLimit", projectId);
  return view(context, project);
}

async function view(context: LimitContext, project: Project): Promise<LogLimitView> {
  const own = project.logLimit ?? {};
  const layers = await readLayers(context, { project, tenantId: tenantOf(project) });
  const { logLimit, givenVariables: given = [] } = context;
  return {
    projectId: project.projectId,
    ...effectiveLogLimit(layers, { logLimit, given }),
    own: BOUNDS.filter((bound) => own[bound] !== undefined),
  };
}

/** Replaces the project's own bounds, which apply to steps that begin from some seconds later on. Throws `not_found`. */
export async function setLogLimit(
  context: LimitContext,
  caller: Caller,
  {
    projectId,
    body,
    match,
  }: { readonly projectId: ProjectId; readonly body: z.output<typeof logLimitBody> } & WithPrecondition<LogLimitView>,
): Promise<LogLimitView> {
  const own = Object.fromEntries(BOUNDS.flatMap((bound) => (body[bound] === undefined ? [] : [[bound, body[bound]]])));
  return changeUnmoved(async () => {
    const { user, found } = await reachProject(context, caller, "writeLogLimit", projectId);
    match?.(await view(context, found));
    const inherited = { lines: null, bytes: null };
    const sides = { before: { ...inherited, ...found.logLimit }, after: { ...inherited, ...own } };
    const change = { kind: "logLimit", id: projectId, name: found.name, ...sides } as const;
    const expected = match && { logLimit: found.logLimit };
    if ((await changeRecord(context, user, change, { logLimit: own }, expected)) === MOVED) return MOVED;
    context.log.info({ projectId, by: user.name, userId: user.userId, own }, "the log limit of a project was set");
    return getLogLimit(context, caller, { projectId });
  });
}
