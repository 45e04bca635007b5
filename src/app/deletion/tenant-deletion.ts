/** The deletion of a tenant: of an empty one, or of one with all its projects. It is noted before anything is deleted. */
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { DEFAULT_TENANT, type TenantId } from "../../domain/ids.ts";
import { ownerOf } from "../../stores/ports/documents.ts";
import type { Tenant } from "../../stores/ports/rights.ts";
import { removeAgent } from "../agents/agent-removal.ts";
import { forgetAreasBeingDeleted } from "../areas-being-deleted.ts";
import { deletePluginsOf } from "../catalogue/plugins.ts";
import type { Caller, UserCaller } from "../identity/access.ts";
import { forgetTenantFacts } from "../project-facts.ts";
import { reachTenant } from "../reaching.ts";
import type { DeletionContext } from "./context.ts";
import { hideProject, noteProjectDeletion } from "./project-deletion.ts";

/** System events of one call to the store. */
const EVENTS_AT_ONCE = 500;

/**
 * Deletes a tenant with its teams, its service accounts, its agents and the roles in it. Throws `not_found`, and
 * `conflict` for the default tenant. A tenant that has projects is archived, and `conflict` is thrown; with `force` it is
 * deleted with its projects, whose live runs are stopped.
 */
export async function deleteTenant(
  context: DeletionContext,
  caller: Caller,
  { tenantId, force }: { readonly tenantId: TenantId; readonly force: boolean },
): Promise<void> {
  const { user, found: tenant } = await reachTenant(context, caller, "deleteTenants", tenantId);
  if (tenantId === DEFAULT_TENANT) {
    const text = `the tenant ${DEFAULT_TENANT} cannot be deleted: projects without a tenant are in it`;
    throw new MillraceError("conflict", text);
  }
  const { pipelines, rights } = context.stores;
  if (!force) {
    // An archived tenant takes no new project, so that none is made while this call looks for them.
    await rights.changeTenant(tenantId, { archivedAt: context.clock.now() });
    const [project] = await pipelines.listProjects({ projectIds: [], tenantIds: [tenantId] });
    if (project !== undefined) {
      if (tenant.archivedAt === null) await recordArchived(context, user, tenant);
      const text = `the tenant still has the project ${JSON.stringify(project.name)}: delete its projects first, or delete with ?force=true; it is archived now`;
      throw new MillraceError("conflict", text);
    }
  }
  const { name, archivedAt } = tenant;
  const change = { kind: "tenant", id: tenantId, name, before: { name, archived: archivedAt !== null } } as const;
  const deletion = { area: { tenantId }, name, at: context.clock.now(), by: user.name, emptiedAt: null } as const;
  await recorded(user, change, () => rights.deletions.note(deletion));
  await emptyTenant(context, tenantId, user.name);
  await rights.deletions.setEmptied({ tenantId }, context.clock.now());
  context.log.info({ tenantId, by: user.name, userId: user.userId }, "a tenant was deleted");
}

/**
 * Deletes what a tenant owns, and the tenant. Its projects are empty later: each has a deletion of its own. Safe to repeat
 * after a crash. `by`: the name of the user who deletes the tenant.
 */
export async function emptyTenant(context: DeletionContext, tenantId: TenantId, by: string): Promise<void> {
  const { documents, identity, pipelines, rights, systemEvents } = context.stores;
  forgetAreasBeingDeleted(context);
  forgetTenantFacts(context);
  for (const project of await pipelines.listProjects({ projectIds: [], tenantIds: [tenantId] })) {
    await noteProjectDeletion(context, project, by);
    await hideProject(context, project.projectId, by);
  }
  for (const { userId } of await identity.listOwnedBy({ tenantId })) await identity.deleteUser(userId);
  for (const { tokenId, reach } of await identity.listRegistrationTokens()) {
    if (reach?.tenantId === tenantId) await identity.deleteToken(tokenId);
  }
  for (const { agentId, reach } of await identity.listAgents()) {
    if (reach?.tenantId === tenantId) await removeAgent(context, agentId, {});
  }
  await deletePluginsOf(context, { tenantId });
  await documents.deleteOf(ownerOf({ tenantId }));
  while ((await systemEvents.drop(tenantId, EVENTS_AT_ONCE)) >= EVENTS_AT_ONCE);
  await rights.deleteTenant(tenantId);
}

/** The deletion was refused, and has archived the tenant all the same. */
async function recordArchived({ stores, clock }: DeletionContext, user: UserCaller, tenant: Tenant): Promise<void> {
  const { tenantId, name } = tenant;
  const change = {
    kind: "tenant",
    id: tenantId,
    name,
    before: { archived: false },
    after: { archived: true },
  } as const;
  await recorded(user, change, () => stores.rights.changeTenant(tenantId, { archivedAt: clock.now() }));
}
