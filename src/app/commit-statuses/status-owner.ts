/**
 * Which of several pipelines of one name has the plain name of a commit status. Pipelines of two projects may have one name and
 * build one repository; under one name at the host, the status of one would replace that of the other.
 */
import { DEFAULT_TENANT } from "../../domain/ids.ts";
import { type Pipeline, tenantOf } from "../../stores/ports/pipelines.ts";
import { isOwnRepository } from "../git/own-repository.ts";
import type { StatusContext } from "./context.ts";
import { reportedBy } from "./reporting.ts";

/** Pipelines of one name that are compared, from the oldest on. */
const COMPARED = 100;

/**
 * What the names of the statuses of a pipeline add to tell them from those of an older pipeline: empty for the oldest one of the
 * name that reports on the repository, else the slug of its project, behind that of another tenant than the default one.
 */
export async function statusOwner(
  { stores }: Pick<StatusContext, "stores">,
  { pipelineId, projectId, name, repoUrl }: Pipeline,
): Promise<string> {
  const older = (await stores.pipelines.named(name, COMPARED)).filter((other) => other.pipelineId < pipelineId);
  if (!older.some((other) => reportedBy(other) !== "off" && isOwnRepository(other, [repoUrl]))) return "";
  const project = await stores.pipelines.findProject(projectId);
  if (project === undefined) return projectId;
  const { slug = projectId } = project;
  const tenantId = tenantOf(project);
  if (tenantId === DEFAULT_TENANT) return slug;
  return `${(await stores.rights.findTenant(tenantId))?.slug ?? tenantId}/${slug}`;
}
