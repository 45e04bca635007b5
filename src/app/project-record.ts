/** The record of a project: what callers see of it, and its changes. */
import { z } from "zod";
import { type RecordedChange, recorded } from "../audit/trail.ts";
import { MillraceError } from "../domain/errors.ts";
import { asId, type ProjectId, type TenantId } from "../domain/ids.ts";
import type { Expected } from "../stores/ports/expected.ts";
import { isArchived, type Project, type ProjectChange, tenantOf } from "../stores/ports/pipelines.ts";
import type { WithStores } from "./context.ts";
import type { UserCaller } from "./identity/access.ts";
import { slugOf, slugTaken } from "./given-slugs.ts";
import { noProject } from "./lookups.ts";
import { MOVED } from "./preconditions.ts";
import { id, shape, time } from "./shapes.ts";
import { rfc3339 } from "./times.ts";

export const ProjectShape = shape("Project", () => ({
  projectId: id<ProjectId>(),
  /** The owner. */
  tenantId: id<TenantId>(),
  name: z.string(),
  /** Unique in the tenant. */
  slug: z.string(),
  description: z.string(),
  archived: z.boolean(),
  createdAt: time,
}));

export type ProjectView = z.infer<typeof ProjectShape>;

/**
 * Changes the record of the project that `change.id` names, and records the change. Answers {@link MOVED}, and changes
 * nothing, when the record is not as `expected`. Throws `not_found`, and `already_exists` for a name or a slug that is taken.
 */
export async function changeRecord(
  { stores }: WithStores<"pipelines">,
  user: UserCaller,
  change: RecordedChange,
  fields: ProjectChange,
  expected?: Expected<Project>,
): Promise<"changed" | typeof MOVED> {
  const projectId = asId<ProjectId>(change.id);
  const isChanged = await recorded(user, change, async () => {
    const outcome = await stores.pipelines.changeProject(projectId, fields, expected);
    if (outcome === "missing") throw noProject(projectId);
    if (outcome === "slugTaken") throw slugTaken("project", fields.slug ?? "");
    if (outcome !== "nameTaken") return outcome === "changed";
    throw new MillraceError("already_exists", `there is a project named ${JSON.stringify(fields.name)} already`);
  });
  return isChanged ? "changed" : MOVED;
}

export function projectView(project: Project): ProjectView {
  const { projectId, name, description: text = "", createdAt } = project;
  return {
    projectId,
    tenantId: tenantOf(project),
    name,
    slug: slugOf(projectId, project.slug),
    description: text,
    archived: isArchived(project),
    createdAt: rfc3339(createdAt),
  };
}
