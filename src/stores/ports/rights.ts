/** The port of tenants, teams and bound rights, and of the deletion of tenants and projects. Times are Unix milliseconds. */
import type { ProjectId, TeamId, TenantId, UserId } from "../../domain/ids.ts";
import type { Area, Role, RoleInArea } from "../../domain/roles.ts";
import type { Expected } from "./expected.ts";
import type { AreaDeletionStore } from "./deletions.ts";

export interface Tenant {
  readonly tenantId: TenantId;
  /** Unique. */
  readonly name: string;
  /** Unique. Absent in tenants that a node of a version without slugs has made. */
  readonly slug?: string;
  readonly createdAt: number;
  /** Since when the tenant takes no new projects, pipelines and runs; null while it does. */
  readonly archivedAt: number | null;
}

/** New values of some fields of a tenant. */
export type TenantChange = Partial<Pick<Tenant, "name" | "slug" | "archivedAt">>;

/** A group of users that carries roles. A tenant owns it. */
export interface Team {
  readonly teamId: TeamId;
  readonly tenantId: TenantId;
  /** Unique in its tenant. */
  readonly name: string;
  readonly createdAt: number;
}

/** Whom a role is given to: a user, a service account (which is a kind of user), or a team. */
export type SubjectId = UserId | TeamId;

/** A role of a user or a team in a tenant or a project. One subject has at most one in each area. */
export interface Binding extends RoleInArea {
  readonly subjectId: SubjectId;
  readonly createdAt: number;
  /** Name of the user who gave the role. */
  readonly createdBy: string;
}

export interface RightsStore {
  readonly deletions: AreaDeletionStore;

  /**
   * `nameTaken` and `slugTaken` when another tenant has the name or the slug. A repeat of the id answers `created` and
   * changes nothing.
   */
  createTenant(tenant: Tenant): Promise<"created" | "nameTaken" | "slugTaken">;
  /** Replaces the fields that are given. `moved`, and nothing changes, when the tenant is not as `expected`. */
  changeTenant(
    tenantId: TenantId,
    change: TenantChange,
    expected?: Expected<Tenant>,
  ): Promise<"changed" | "missing" | "nameTaken" | "slugTaken" | "moved">;
  findTenant(tenantId: TenantId): Promise<Tenant | undefined>;
  findTenantBySlug(slug: string): Promise<Tenant | undefined>;
  /** By their ids; all of them, or those that `only` names. */
  listTenants(only?: readonly TenantId[]): Promise<readonly Tenant[]>;
  /** Removes a tenant with its teams and the roles in it. False when it was missing. */
  deleteTenant(tenantId: TenantId): Promise<boolean>;

  /** `nameTaken` when the tenant has another team of that name. A repeat of the id answers `created`. */
  createTeam(team: Team): Promise<"created" | "nameTaken">;
  /** `moved`, and nothing changes, when the team is not as `expected`. */
  renameTeam(
    teamId: TeamId,
    name: string,
    expected?: Expected<Team>,
  ): Promise<"changed" | "missing" | "nameTaken" | "moved">;
  findTeam(teamId: TeamId): Promise<Team | undefined>;
  /** The teams of a tenant, by their names. */
  listTeams(tenantId: TenantId): Promise<readonly Team[]>;
  /** Removes a team with its members and roles. False when it was missing. */
  deleteTeam(teamId: TeamId): Promise<boolean>;

  /** A repeat changes nothing. */
  addToTeam(teamId: TeamId, userId: UserId): Promise<void>;
  /** False when the user was no member. */
  removeFromTeam(teamId: TeamId, userId: UserId): Promise<boolean>;
  /** The members of a team, by their ids. */
  membersOf(teamId: TeamId): Promise<readonly UserId[]>;
  /** The teams that the user is a member of, by their ids. */
  teamsOf(userId: UserId): Promise<readonly TeamId[]>;

  /**
   * Stores a binding, or replaces that of the same subject in the same area. False, and nothing is stored, when `expected`
   * is given and the subject has no binding with that role there.
   */
  bind(binding: Binding, expected?: Role): Promise<boolean>;
  /** False when there was no such binding. */
  unbind(subjectId: SubjectId, area: Area): Promise<boolean>;
  /** The bindings in exactly this area, by their subjects. */
  boundIn(area: Area): Promise<readonly Binding[]>;
  /** The bindings of exactly this subject. */
  boundTo(subjectId: SubjectId): Promise<readonly Binding[]>;
  /** Removes all bindings in the area. */
  unbindAll(area: Area): Promise<void>;
}

/** How an area is stored: its kind and its id. */
export function storedArea(area: Area): { readonly kind: "tenant" | "project"; readonly id: TenantId | ProjectId } {
  return "tenantId" in area ? { kind: "tenant", id: area.tenantId } : { kind: "project", id: area.projectId };
}
