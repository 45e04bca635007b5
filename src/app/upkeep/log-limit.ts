/** How much of a step's log a project keeps, which administrators read and set. */
import { z } from "zod";
import type { ProjectId } from "../../domain/ids.ts";
import { MAX_LOG_LINES } from "../../domain/retention.ts";
import type { AppContext, WithStores } from "../context.ts";
import { id, listOf, shape, wholeNumber } from "../shapes.ts";
import type { Caller } from "../identity/access.ts";
import { noProject } from "../lookups.ts";
import { reachProject } from "../reaching.ts";

const BOUNDS = ["lines", "bytes"] as const;
/** A limit below this would not even hold one long line. */
const LEAST_BYTES = 100_000;

/** A bound that is absent is that of the installation. */
export const logLimitBody = z.strictObject({
  lines: z.number().int().min(1).max(MAX_LOG_LINES).optional(),
  bytes: z.number().int().min(LEAST_BYTES).optional(),
});

type LimitContext = Pick<AppContext, "clock" | "log" | "logLimit"> & WithStores<"pipelines" | "rights">;

export const LogLimitShape = shape("LogLimit", {
  projectId: id<ProjectId>(),
  lines: wholeNumber,
  /** UTF-8 bytes of the lines, without their ends. */
  bytes: wholeNumber,
  /** The bounds that the project has set itself. */
  own: listOf(z.enum(BOUNDS)),
});

type LogLimitView = z.infer<typeof LogLimitShape>;

/** The limit that applies to the steps of the project. Throws `not_found`. */
export async function getLogLimit(
  context: LimitContext,
  caller: Caller,
  { projectId }: { readonly projectId: ProjectId },
): Promise<LogLimitView> {
  const { found: project } = await reachProject(context, caller, "readLogLimit", projectId);
  const own = project.logLimit ?? {};
  return { projectId, ...context.logLimit, ...own, own: BOUNDS.filter((bound) => own[bound] !== undefined) };
}

/** Replaces the project's own bounds, which apply to steps that begin from some seconds later on. Throws `not_found`. */
export async function setLogLimit(
  context: LimitContext,
  caller: Caller,
  { projectId, body }: { readonly projectId: ProjectId; readonly body: z.output<typeof logLimitBody> },
): Promise<LogLimitView> {
  const { user } = await reachProject(context, caller, "writeLogLimit", projectId);
  const own = Object.fromEntries(BOUNDS.flatMap((bound) => (body[bound] === undefined ? [] : [[bound, body[bound]]])));
  if (!(await context.stores.pipelines.setLogLimit(projectId, own))) throw noProject(projectId);
  context.log.info({ projectId, by: user.name, userId: user.userId, own }, "the log limit of a project was set");
  return getLogLimit(context, caller, { projectId });
}
