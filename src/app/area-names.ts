/**
 * Tenants and projects by their slugs, wherever a call names them by an id: `website` is a project of the default tenant,
 * `acme/website` one of the tenant `acme`, and `acme` alone, where a tenant is expected, that tenant. An id comes first.
 */
import { asId, DEFAULT_TENANT, type ProjectId, type TenantId } from "../domain/ids.ts";
import type { Area } from "../domain/roles.ts";
import { isSlug } from "../domain/names.ts";
import type { Caller } from "./identity/access.ts";
import { type RightsContext, roleInArea } from "./reaching.ts";

/** What may name a tenant or a project, by the names of the fields. */
export interface AreaNames {
  readonly tenantId?: unknown;
  readonly projectId?: unknown;
}

/**
 * The ids of what the fields name by slugs; nothing for the other fields, and for what the caller may not see, so that a call
 * cannot tell what is hidden from what is missing.
 */
export async function idsOfSlugs(context: RightsContext, caller: Caller, names: AreaNames): Promise<Partial<Ids>> {
  const { tenantId: tenant, projectId: project } = names;
  const [tenantId, projectId] = [
    typeof tenant === "string" && isSlug(tenant) ? await tenantOfSlug(context, caller, tenant) : undefined,
    typeof project === "string" && isPath(project) ? await projectOfSlug(context, caller, project) : undefined,
  ];
  return { ...(tenantId !== undefined && { tenantId }), ...(projectId !== undefined && { projectId }) };
}

interface Ids {
  readonly tenantId: TenantId;
  readonly projectId: ProjectId;
}

function isPath(text: string): boolean {
  const parts = text.split("/");
  return parts.length <= 2 && parts.every(isSlug);
}

async function tenantOfSlug(context: RightsContext, caller: Caller, slug: string): Promise<TenantId | undefined> {
  const { rights } = context.stores;
  if ((await rights.findTenant(asId(slug))) !== undefined) return undefined;
  const tenantId = (await rights.findTenantBySlug(slug))?.tenantId;
  return tenantId !== undefined && (await maySee(context, caller, { tenantId })) ? tenantId : undefined;
}

async function projectOfSlug(context: RightsContext, caller: Caller, path: string): Promise<ProjectId | undefined> {
  const { pipelines, rights } = context.stores;
  const [slug, tenant] = path.split("/").toReversed() as [string, string?];
  if (tenant === undefined && (await pipelines.findProject(asId(slug))) !== undefined) return undefined;
  const tenantId = tenant === undefined ? DEFAULT_TENANT : (await rights.findTenantBySlug(tenant))?.tenantId;
  if (tenantId === undefined) return undefined;
  const projectId = (await pipelines.findProjectBySlug(tenantId, slug))?.projectId;
  return projectId !== undefined && (await maySee(context, caller, { projectId })) ? projectId : undefined;
}

async function maySee(context: RightsContext, caller: Caller, area: Area): Promise<boolean> {
  return caller.kind === "user" && (await roleInArea(context, caller, area)) !== null;
}
