/** The rules of retention, as administrators read and set them for a project. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { ProjectId } from "../../domain/ids.ts";
import { type Bound, KEPT_PARTS, type KeptPart, type RetentionRules } from "../../domain/retention.ts";
import { formatAge, MAX_KEPT_RUNS, parseAge } from "../../domain/retention-text.ts";
import type { Project } from "../../stores/ports/pipelines.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { ClusterContext } from "./cluster.ts";

const age = z.string().transform((text, check): number => {
  const ms = parseAge(text);
  if (ms !== undefined) return ms;
  check.addIssue("must be a duration from 1s to 36500d, such as 90d or 12h");
  return z.NEVER;
});
const count = z.number().int().min(1).max(MAX_KEPT_RUNS);
const bound = z
  .strictObject({
    age: age.nullable().default(null),
    perPipeline: count.nullable().default(null),
    perProject: count.nullable().default(null),
  })
  .transform(({ age: ageMs, ...counts }): Bound => ({ ageMs, ...counts }));

/** A part that is left out is kept as the installation keeps it; `null` in a part bounds nothing. */
export const retentionBody = z.strictObject({
  runs: bound.optional(),
  logs: bound.optional(),
  artifacts: bound.optional(),
  events: bound.optional(),
});

interface BoundView {
  /** A duration since the end of the run. */
  readonly age: string | null;
  readonly perPipeline: number | null;
  readonly perProject: number | null;
}

export interface RetentionView extends Readonly<Record<KeptPart, BoundView>> {
  readonly projectId: ProjectId;
  /** The parts for which the project has bounds of its own. */
  readonly own: readonly KeptPart[];
}

/** The bounds that hold for the project. Throws `not_found`. */
export async function getRetention(
  context: ClusterContext,
  caller: Caller,
  { projectId }: { readonly projectId: ProjectId },
): Promise<RetentionView> {
  authoriseUser(caller, "readRetention");
  const project = await context.stores.pipelines.findProject(projectId);
  if (project === undefined) throw noProject(projectId);
  return view(context, project);
}

/** Replaces the project's own bounds; they count from the next look of the sweeper on. Throws `not_found`. */
export async function setRetention(
  context: ClusterContext,
  caller: Caller,
  { projectId, body }: { readonly projectId: ProjectId; readonly body: z.output<typeof retentionBody> },
): Promise<RetentionView> {
  const user = authoriseUser(caller, "writeRetention");
  const own = Object.fromEntries(KEPT_PARTS.flatMap((part) => (body[part] === undefined ? [] : [[part, body[part]]])));
  if (!(await context.stores.pipelines.setRetention(projectId, own))) throw noProject(projectId);
  context.log.info({ projectId, by: user.name, userId: user.userId, own }, "the retention of a project was set");
  return getRetention(context, caller, { projectId });
}

/** Those of the project, part by part, and else those of the installation. */
export function rulesOf(project: Pick<Project, "retention"> | undefined, rules: RetentionRules): RetentionRules {
  return { ...rules, ...project?.retention };
}

function view({ retention }: ClusterContext, project: Project): RetentionView {
  const rules = rulesOf(project, retention.rules);
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

function noProject(projectId: ProjectId): MillraceError {
  return new MillraceError("not_found", `there is no project ${JSON.stringify(projectId)}`);
}
