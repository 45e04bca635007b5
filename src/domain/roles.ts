/** Roles of users, and the rights that roles in tenants and projects give together. Pure. */
import type { ProjectId, TenantId } from "./ids.ts";

/** The most powerful first. A role counts in the whole installation, in a tenant, or in a project. */
export const ROLES = ["owner", "admin", "maintainer", "operator", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** True when `role` has every right that `needed` has. Without a role, there is no right. */
export function roleReaches(role: Role | null, needed: Role): boolean {
  return role !== null && ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

/** The most powerful of the roles; null without one. */
export function highestRole(...roles: readonly (Role | null | undefined)[]): Role | null {
  return ROLES.find((role) => roles.includes(role)) ?? null;
}

/** Where a role counts: in all projects of a tenant, or in one project. */
export type Area = { readonly tenantId: TenantId } | { readonly projectId: ProjectId };

/** What has things of its own: the installation, a tenant or a project. */
export type Owner = "installation" | `tenant/${TenantId}` | `project/${ProjectId}`;

/** The highest role that a user has in each tenant and in each project, directly and through teams. */
export interface Rights {
  readonly tenants: ReadonlyMap<TenantId, Role>;
  readonly projects: ReadonlyMap<ProjectId, Role>;
}

export const NO_RIGHTS: Rights = { tenants: new Map(), projects: new Map() };

/** A role in an area. */
export interface RoleInArea {
  readonly area: Area;
  readonly role: Role;
}

/** The rights that several bindings give together. */
export function rightsFrom(bindings: readonly RoleInArea[]): Rights {
  if (bindings.length === 0) return NO_RIGHTS;
  const tenants = new Map<TenantId, Role>();
  const projects = new Map<ProjectId, Role>();
  for (const { area, role } of bindings) {
    if ("tenantId" in area) tenants.set(area.tenantId, highestRole(role, tenants.get(area.tenantId))!);
    else projects.set(area.projectId, highestRole(role, projects.get(area.projectId))!);
  }
  return { tenants, projects };
}

/** The highest role that the rights hold anywhere; null for none. */
export function highestOf({ tenants, projects }: Rights): Role | null {
  return highestRole(...tenants.values(), ...projects.values());
}

/** A project with the tenant that owns it, which never changes. */
export interface OwnedProject {
  readonly projectId: ProjectId;
  readonly tenantId: TenantId;
}

/** What `role` in the installation and these rights give in some projects alone. */
export function rightsWithin(projects: readonly OwnedProject[], role: Role | null, rights: Rights): Rights {
  const within = new Map<ProjectId, Role>();
  for (const { projectId, tenantId } of projects) {
    const highest = highestRole(role, rights.tenants.get(tenantId), rights.projects.get(projectId));
    if (highest !== null) within.set(projectId, highest);
  }
  return { tenants: new Map(), projects: within };
}

/** True for the same tenant or the same project. */
export function isSameArea(one: Area, other: Area): boolean {
  return "tenantId" in one
    ? "tenantId" in other && one.tenantId === other.tenantId
    : "projectId" in other && one.projectId === other.projectId;
}
