/** The retention rules of a project, which administrators read and set. */
import { z } from "zod";
import type { ProjectId } from "../../domain/ids.ts";
import { KEPT_PARTS, type KeptPart, type RetentionRules } from "../../domain/retention.ts";
import { formatAge } from "../../domain/retention-text.ts";
import { type Project, tenantOf } from "../../stores/ports/pipelines.ts";
import type { Caller } from "../identity/access.ts";
import type { WithStores } from "../context.ts";
import type { ClusterContext } from "./cluster.ts";
import { id, listOf, shape, wholeNumber } from "../shapes.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { changeRecord } from "../project-record.ts";
import { reachProject } from "../reaching.ts";
import { effectiveRetention, readLayers } from "../effective-settings.ts";
import { boundBody } from "../setting-table.ts";

/** A part that is absent has the bounds of the installation; `null` in a part means no bound. */
export const retentionBody = z.strictObject({
  runs: boundBody.optional(),
  logs: boundBody.optional(),
  artifacts: boundBody.optional(),
  events: boundBody.optional(),
});

/** Null is no bound. */
const BoundShape = shape("RetentionBound", () => ({
  /** A duration since the end of the run, such as `90d`. */
  age: z.string().nullable(),
  perPipeline: wholeNumber.nullable(),
  perProject: wholeNumber.nullable(),
}));

export const RetentionShape = shape("Retention", () => ({
  projectId: id<ProjectId>(),
  runs: BoundShape,
  logs: BoundShape,
  artifacts: BoundShape,
  events: BoundShape,
  /** The parts for which the project has bounds of its own. */
  own: listOf(z.enum(KEPT_PARTS)),
}));

type BoundView = z.infer<typeof BoundShape>;
type RetentionView = z.infer<typeof RetentionShape>;

type RulesContext = Pick<ClusterContext, "clock" | "log" | "retention" | "givenVariables"> &
  WithStores<"pipelines" | "rights" | "documents">;

/** The bounds that apply to the project. Throws `not_found`. */
export async function getRetention(
  context: RulesContext,
  caller: Caller,
  { projectId }: { readonly projectId: ProjectId },
): Promise<RetentionView> {
  const { found: project } = await reachProject(context, caller, "readRetention", projectId);
  return effectiveView(context, project);
}

async function effectiveView(context: RulesContext, project: Project): Promise<RetentionView> {
  const layers = await readLayers(context, { project, tenantId: tenantOf(project) });
  const { retention, givenVariables: given = [] } = context;
  return view(project, effectiveRetention(layers, { retention: retention.rules, given }));
}

/** Replaces the project's own bounds, which apply from the next pass of the pruner on. Throws `not_found`. */
export async function setRetention(
  context: RulesContext,
  caller: Caller,
  {
    projectId,
    body,
    match,
  }: { readonly projectId: ProjectId; readonly body: z.output<typeof retentionBody> } & WithPrecondition<RetentionView>,
): Promise<RetentionView> {
  const own = Object.fromEntries(KEPT_PARTS.flatMap((part) => (body[part] === undefined ? [] : [[part, body[part]]])));
  return changeUnmoved(async () => {
    const { user, found } = await reachProject(context, caller, "writeRetention", projectId);
    match?.(await effectiveView(context, found));
    const inherited = { runs: null, logs: null, artifacts: null, events: null };
    const sides = { before: { ...inherited, ...found.retention }, after: { ...inherited, ...own } };
    const change = { kind: "retention", id: projectId, name: found.name, ...sides } as const;
    const expected = match && { retention: found.retention };
    if ((await changeRecord(context, user, change, { retention: own }, expected)) === MOVED) return MOVED;
    context.log.info({ projectId, by: user.name, userId: user.userId, own }, "the retention of a project was set");
    return getRetention(context, caller, { projectId });
  });
}

/** The rules of the project, with those of the installation for each part that the project leaves out. */
export function rulesOf(project: Pick<Project, "retention"> | undefined, rules: RetentionRules): RetentionRules {
  return { ...rules, ...project?.retention };
}

function view(project: Project, rules: RetentionRules): RetentionView {
  const shown = (part: KeptPart): BoundView => {
    const { ageMs, ...counts } = rules[part];
    return { age: ageMs === null ? null : formatAge(ageMs), ...counts };
  };
  return {
    projectId: project.projectId,
    runs: shown("runs"),
    logs: shown("logs"),
    artifacts: shown("artifacts"),
    events: shown("events"),
    own: KEPT_PARTS.filter((part) => project.retention?.[part] !== undefined),
  };
}
