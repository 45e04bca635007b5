/**
 * What the groups of a user at a provider give here: a role in the installation, roles in tenants and projects, places in
 * teams. In each place the mapping manages the roles that it can give there: the user gets them with the group, and loses
 * them without it. Another role is never taken away or lowered. Pure.
 */
import { asId, type ProjectId, type TeamId, type TenantId } from "../../domain/ids.ts";
import { type Area, highestRole, isSameArea, type Role, type RoleInArea } from "../../domain/roles.ts";
import type { OidcProviderSettings } from "./provider-settings.ts";

type GroupMapping = Pick<OidcProviderSettings, "roles" | "defaultRole" | "tenants" | "projects" | "teams">;
type RoleOfGroup = Readonly<Record<string, Role>>;

/** The places in which a user is, of those that the mapping names. */
export interface Places {
  /** In the installation. */
  readonly role: Role | null;
  readonly bound: readonly RoleInArea[];
  readonly teams: readonly TeamId[];
}

export interface PlaceChanges {
  readonly role: Role | null;
  /** `role` is null for a role that is taken away. */
  readonly bound: readonly { readonly area: Area; readonly before: Role | null; readonly role: Role | null }[];
  readonly joined: readonly TeamId[];
  readonly left: readonly TeamId[];
}

const NOWHERE: Places = { role: null, bound: [], teams: [] };

/** What changes for a user who is in these places; `now` is undefined for a new user. */
export function changesOf(mapping: GroupMapping, groups: readonly string[], now: Places | undefined): PlaceChanges {
  const before = now ?? NOWHERE;
  const bound = areasOf(mapping).flatMap(({ area, roles }) => {
    const old = before.bound.find((one) => isSameArea(one.area, area))?.role ?? null;
    const role = after(old, Object.values(roles), roleOf(roles, groups));
    return role === old ? [] : [{ area, before: old, role }];
  });
  const teams = Object.entries(mapping.teams ?? {}).map(([id, listed]) => {
    const teamId = asId<TeamId>(id);
    return { teamId, isIn: before.teams.includes(teamId), isWanted: listed.some((group) => groups.includes(group)) };
  });
  return {
    role: roleInInstallation(mapping, groups, now),
    bound,
    joined: teams.flatMap(({ teamId, isIn, isWanted }) => (isWanted && !isIn ? [teamId] : [])),
    left: teams.flatMap(({ teamId, isIn, isWanted }) => (isIn && !isWanted ? [teamId] : [])),
  };
}

function roleInInstallation(
  { roles, defaultRole }: GroupMapping,
  groups: readonly string[],
  now: Places | undefined,
): Role | null {
  const given = roleOf(roles, groups);
  if (now === undefined) return given ?? defaultRole;
  if (Object.keys(roles).length === 0) return now.role;
  // A user who sees single projects only is not shown all of them because no group is mapped.
  return after(now.role, [...Object.values(roles), defaultRole], given ?? (now.role === null ? null : defaultRole));
}

function areasOf({ tenants, projects }: GroupMapping): readonly { readonly area: Area; readonly roles: RoleOfGroup }[] {
  return [
    ...Object.entries(tenants ?? {}).map(([id, roles]) => ({ area: { tenantId: asId<TenantId>(id) }, roles })),
    ...Object.entries(projects ?? {}).map(([id, roles]) => ({ area: { projectId: asId<ProjectId>(id) }, roles })),
  ];
}

/** The most powerful role of the groups; null without one. */
function roleOf(roles: RoleOfGroup, groups: readonly string[]): Role | null {
  return highestRole(...groups.flatMap((group) => (Object.hasOwn(roles, group) ? [roles[group]] : [])));
}

function after(before: Role | null, managed: readonly (Role | null)[], wanted: Role | null): Role | null {
  return before === null || managed.includes(before) ? wanted : highestRole(before, wanted);
}
