/**
 * Looks up what a project owns, for callers who may call an operation on it. The roles that count are those in the
 * installation, in the tenant and in the project of the object. What a caller may not see at all is answered with the
 * words for an unknown id.
 */
import type { Clock } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import type { JobRunId, PipelineId, ProjectId, RunId, StepRunId, TenantId } from "../domain/ids.ts";
import { type Area, highestRole, NO_RIGHTS, type Role, roleReaches } from "../domain/roles.ts";
import type { AggregateHead, JobLocation, StepLocation } from "../stores/ports/aggregates.ts";
import type { Pipeline, Project } from "../stores/ports/pipelines.ts";
import { ownerOf } from "../stores/ports/documents.ts";
import type { Tenant } from "../stores/ports/rights.ts";
import { areasBeingDeleted, isBeingDeleted } from "./areas-being-deleted.ts";
import type { WithStores } from "./context.ts";
import {
  type ActingUser,
  authoriseAs,
  authoriseLookUp,
  type Caller,
  mayEverywhere,
  type UserCaller,
} from "./identity/access.ts";
import { type OperationOf, USER_OPERATIONS } from "./identity/operations.ts";
import { findPipeline, findProject, findRunHead, noPipeline, noProject, noRun, noTenant } from "./lookups.ts";
import { projectFactsOf } from "./project-facts.ts";

/** What the tenant of a project is found with. */
export type RightsContext = { readonly clock: Pick<Clock, "monotonic"> } & WithStores<
  "pipelines" | "rights" | "documents"
>;

type ProjectOperation = OperationOf<"project">;

/** An object, and the caller with the role that counts for it. */
export interface Reached<T> {
  readonly user: ActingUser;
  readonly found: T;
}

/** How an object is found. `find` throws `missing()` for an unknown id. */
export interface Sought<T> {
  readonly find: () => Promise<T>;
  readonly projectOf: (found: T) => ProjectId | Promise<ProjectId>;
  readonly missing: () => MillraceError;
}

/** Throws `forbidden`, and what `sought.missing` makes for an object that is missing or that the caller may not see. */
export async function reach<T>(
  context: RightsContext,
  caller: Caller,
  operation: ProjectOperation,
  sought: Sought<T>,
): Promise<Reached<T>> {
  const looking = authoriseLookUp(caller, operation);
  const found = await sought.find();
  const deleted = await areasBeingDeleted(context);
  if (deleted.size > 0 && deleted.has(ownerOf({ projectId: await sought.projectOf(found) }))) throw sought.missing();
  const role = await roleIn(context, looking, async () => sought.projectOf(found));
  looking.trail?.actsIn({ projectId: await sought.projectOf(found) });
  return { user: authoriseAs(looking, operation, role, sought.missing), found };
}

/** The highest role that the user has in a project; null for none. `projectOf` is called only when it matters. */
async function roleIn(
  context: RightsContext,
  { role, rights = NO_RIGHTS }: UserCaller,
  projectOf: () => Promise<ProjectId>,
): Promise<Role | null> {
  if (rights.projects.size === 0 && rights.tenants.size === 0) return role;
  const projectId = await projectOf();
  const inProject = highestRole(role, rights.projects.get(projectId));
  if (rights.tenants.size === 0) return inProject;
  const { tenantId } = await projectFactsOf(context, projectId);
  return tenantId === null ? inProject : highestRole(inProject, rights.tenants.get(tenantId));
}

/** The caller with the role in each of these projects, as far as the caller may see them. */
export async function actingIn(
  context: RightsContext,
  user: UserCaller,
  projectId: ProjectId,
): Promise<ActingUser | undefined> {
  const role = await roleIn(context, user, () => Promise.resolve(projectId));
  return role === null ? undefined : { ...user, role };
}

/** Whether the user may call the operation in the project; false for a project that is missing or being deleted. */
export async function mayIn(
  context: RightsContext,
  user: UserCaller,
  operation: ProjectOperation,
  projectId: ProjectId,
): Promise<boolean> {
  const { tenantId } = await projectFactsOf(context, projectId);
  if (tenantId === null || (await areasBeingDeleted(context)).has(ownerOf({ projectId }))) return false;
  const role = await roleIn(context, user, () => Promise.resolve(projectId));
  return roleReaches(role, USER_OPERATIONS[operation].role);
}

/**
 * The projects in which the caller may call the operation, for lists over several projects; `all` for every project.
 * Throws `forbidden` for callers who may call it nowhere though they see everything.
 */
export async function projectsFor(
  context: RightsContext,
  caller: Caller,
  operation: ProjectOperation,
): Promise<{ readonly user: UserCaller; readonly projects: readonly Project[] | "all" }> {
  const user = authoriseLookUp(caller, operation);
  const deleted = await areasBeingDeleted(context);
  const isKept = ({ projectId }: Project): boolean => !deleted.has(ownerOf({ projectId }));
  if (mayEverywhere(user, operation)) {
    if (deleted.size === 0) return { user, projects: "all" };
    return { user, projects: (await context.stores.pipelines.listProjects()).filter(isKept) };
  }
  const { tenants, projects } = user.rights ?? NO_RIGHTS;
  const needed = USER_OPERATIONS[operation].role;
  const projectIds = [...projects].flatMap(([id, role]) => (roleReaches(role, needed) ? [id] : []));
  const tenantIds = [...tenants].flatMap(([id, role]) => (roleReaches(role, needed) ? [id] : []));
  if (projectIds.length === 0 && tenantIds.length === 0) return { user, projects: [] };
  return { user, projects: (await context.stores.pipelines.listProjects({ projectIds, tenantIds })).filter(isKept) };
}

/** {@link projectsFor} as the filter that stores take: undefined for every project. */
export async function projectIdsFor(
  context: RightsContext,
  caller: Caller,
  operation: ProjectOperation,
): Promise<{ readonly user: UserCaller; readonly projectIds: readonly ProjectId[] | undefined }> {
  const { user, projects } = await projectsFor(context, caller, operation);
  return { user, projectIds: projects === "all" ? undefined : projects.map(({ projectId }) => projectId) };
}

/** The tenants in which the caller may call the operation; undefined for all. Throws as {@link projectsFor}. */
export function tenantIdsFor(caller: Caller, operation: OperationOf<"tenant">): readonly TenantId[] | undefined {
  const user = authoriseLookUp(caller, operation);
  if (mayEverywhere(user, operation)) return undefined;
  const needed = USER_OPERATIONS[operation].role;
  return [...(user.rights ?? NO_RIGHTS).tenants].flatMap(([id, role]) => (roleReaches(role, needed) ? [id] : []));
}

/** The highest role that the user has in an area; null for none. */
export async function roleInArea(context: RightsContext, user: UserCaller, area: Area): Promise<Role | null> {
  if ("projectId" in area) return roleIn(context, user, () => Promise.resolve(area.projectId));
  return highestRole(user.role, user.rights?.tenants.get(area.tenantId));
}

/** {@link reach} for a tenant. `missing` makes the error for a tenant that is missing or that the caller may not see. */
export async function reachTenant(
  context: RightsContext,
  caller: Caller,
  operation: OperationOf<"tenant">,
  tenantId: TenantId,
  missing: () => MillraceError = () => noTenant(tenantId),
): Promise<Reached<Tenant>> {
  const looking = authoriseLookUp(caller, operation);
  const found = (await context.stores.rights.findTenant(tenantId)) ?? raise(missing());
  if (await isBeingDeleted(context, { tenantId })) throw missing();
  const role = await roleInArea(context, looking, { tenantId });
  looking.trail?.actsIn({ tenantId });
  return { user: authoriseAs(looking, operation, role, missing), found };
}

export function reachProject(
  context: RightsContext,
  caller: Caller,
  operation: ProjectOperation,
  projectId: ProjectId,
): Promise<Reached<Project>> {
  return reach(context, caller, operation, {
    find: () => findProject(context, projectId),
    projectOf: () => projectId,
    missing: () => noProject(projectId),
  });
}

export function reachPipeline(
  context: RightsContext,
  caller: Caller,
  operation: ProjectOperation,
  pipelineId: PipelineId,
): Promise<Reached<Pipeline>> {
  return reach(context, caller, operation, {
    find: () => findPipeline(context, pipelineId),
    projectOf: ({ projectId }) => projectId,
    missing: () => noPipeline(pipelineId),
  });
}

/** A run by its head. With `pipelineId`, a run of another pipeline is missing. */
export function reachRun(
  context: RightsContext & WithStores<"aggregates">,
  caller: Caller,
  operation: ProjectOperation,
  runId: RunId,
  pipelineId?: PipelineId,
): Promise<Reached<AggregateHead>> {
  return reach(context, caller, operation, {
    find: () => findRunHead(context, runId, pipelineId),
    projectOf: ({ summary }) => summary.projectId,
    missing: () => noRun(runId, pipelineId),
  });
}

/**
 * {@link reachRun} for use cases that read the run in their own way, and throw `not_found` for an unknown one. The head is
 * read only for callers whose role depends on the project.
 */
export async function authoriseOnRun(
  context: RightsContext & WithStores<"aggregates">,
  caller: Caller,
  operation: ProjectOperation,
  runId: RunId,
  pipelineId?: PipelineId,
): Promise<UserCaller> {
  const looking = authoriseLookUp(caller, operation);
  // The audit log has to know the project of a change.
  const isSure = looking.trail === undefined && mayEverywhere(looking, operation);
  if (isSure && (await areasBeingDeleted(context)).size === 0) return looking;
  return (await reachRun(context, caller, operation, runId, pipelineId)).user;
}

/** A step run. The head of its run is read only for callers whose role depends on the project. */
export function reachStep(
  context: RightsContext & WithStores<"aggregates">,
  caller: Caller,
  operation: ProjectOperation,
  stepRunId: StepRunId,
  missing: () => MillraceError,
): Promise<Reached<StepLocation>> {
  return reach(context, caller, operation, {
    find: async () => (await context.stores.aggregates.findStep(stepRunId)) ?? raise(missing()),
    projectOf: ({ runId }) => projectOfRun(context, runId, missing),
    missing,
  });
}

/** A job run, as {@link reachStep}. */
export function reachJob(
  context: RightsContext & WithStores<"aggregates">,
  caller: Caller,
  operation: ProjectOperation,
  jobId: JobRunId,
  missing: () => MillraceError,
): Promise<Reached<JobLocation>> {
  return reach(context, caller, operation, {
    find: async () => (await context.stores.aggregates.findJob(jobId)) ?? raise(missing()),
    projectOf: ({ runId }) => projectOfRun(context, runId, missing),
    missing,
  });
}

async function projectOfRun(
  { stores }: WithStores<"aggregates">,
  runId: RunId,
  missing: () => MillraceError,
): Promise<ProjectId> {
  return ((await stores.aggregates.loadHead(runId)) ?? raise(missing())).summary.projectId;
}

function raise(error: MillraceError): never {
  throw error;
}
