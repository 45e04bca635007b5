/** Areas, in which roles are bound: the callers who may do something in a tenant or in a project. */
import { MillraceError } from "../../domain/errors.ts";
import type { TenantId } from "../../domain/ids.ts";
import { type Area, type Role, type RoleInArea, roleReaches } from "../../domain/roles.ts";
import { tenantOf } from "../../stores/ports/pipelines.ts";
import type { ActingUser, Caller, UserCaller } from "../identity/access.ts";
import type { OperationOf } from "../identity/operations.ts";
import { reachProject, reachTenant, roleInArea } from "../reaching.ts";
import type { RightsUseContext } from "./context.ts";

/** The operations on members or service accounts of an area, by its kind. */
export interface AreaOperations {
  readonly tenant: OperationOf<"tenant">;
  readonly project: OperationOf<"project">;
}

/** The caller with the role that counts in the area, and the tenant that the area is or belongs to. Throws `not_found`. */
export async function reachArea(
  context: RightsUseContext,
  caller: Caller,
  area: Area,
  operations: AreaOperations,
): Promise<{ readonly user: ActingUser; readonly tenantId: TenantId }> {
  if ("tenantId" in area) {
    const { user } = await reachTenant(context, caller, operations.tenant, area.tenantId);
    return { user, tenantId: area.tenantId };
  }
  const { user, found } = await reachProject(context, caller, operations.project, area.projectId);
  return { user, tenantId: tenantOf(found) };
}

/** Throws `forbidden` for a role above the caller's own in the area: no caller gives it, changes it or takes it away. */
export function requireRoleInArea({ role: own }: ActingUser, role: Role): void {
  if (roleReaches(own, role)) return;
  throw new MillraceError("forbidden", `the role ${role} is above your own here, ${own}`);
}

/**
 * For callers who hand these roles on: by a token of a service account, or by the membership of a team. Throws
 * `forbidden` when one of the roles is above the caller's own where it counts.
 */
export async function requireRoles(
  context: RightsUseContext,
  user: UserCaller,
  roles: readonly RoleInArea[],
): Promise<void> {
  for (const { area, role } of roles) {
    const own = await roleInArea(context, user, area);
    if (roleReaches(own, role)) continue;
    const where = "tenantId" in area ? `the tenant ${area.tenantId}` : `the project ${area.projectId}`;
    throw new MillraceError("forbidden", `the role ${role} in ${where} is above your own, ${own ?? "none"}`);
  }
}
