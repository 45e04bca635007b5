/**
 * Which agents a caller may see and manage. An agent that is bound to a tenant or to projects of one belongs to that tenant;
 * an agent without a reach belongs to the installation.
 */
import { type AgentReach } from "../../domain/labels.ts";
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { type AgentId, asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { highestRole, NO_RIGHTS } from "../../domain/roles.ts";
import type { Agent } from "../../stores/ports/identity.ts";
import { tenantOf } from "../../stores/ports/pipelines.ts";
import type { WithStores } from "../context.ts";
import { type ActingUser, authoriseAs, authoriseLookUp, type Caller, mayEverywhere } from "../identity/access.ts";
import { projectFactsOf } from "../project-facts.ts";
import { type Reached, reachTenant, type RightsContext } from "../reaching.ts";
import { fields, id, listOf } from "../shapes.ts";

const MAX_PROJECTS = 100;

/** A reach as callers give it: a tenant, or projects of one tenant. */
export const reachBody = z.union([
  z.strictObject({ tenantId: z.string().max(64) }),
  z.strictObject({ projectIds: z.array(z.string().max(64)).min(1).max(MAX_PROJECTS) }),
]);

export const reachShape = fields(() => ({
  tenantId: id<TenantId>(),
  /** Those that the caller may see; null for every project of the tenant. */
  projectIds: listOf(id<ProjectId>()).nullable(),
}));

type Bound = Pick<Agent, "reach">;

/** What a caller may see of agents and their reaches. */
export interface AgentSight {
  readonly sees: (agent: Bound) => boolean;
  /** The reach without projects that the caller may not see; null for an agent of the installation. */
  readonly reachOf: (agent: Bound) => AgentReach | null;
}

/** Throws `forbidden` for a token that is narrowed too far. */
export async function agentSight(context: RightsContext, caller: Caller): Promise<AgentSight> {
  const user = authoriseLookUp(caller, "readAgents");
  if (mayEverywhere(user, "readAgents")) return { sees: () => true, reachOf: ({ reach = null }) => reach };
  const { tenants, projects } = user.rights ?? NO_RIGHTS;
  const tenantsOfProjects = new Set<TenantId>();
  for (const projectId of projects.keys()) {
    const { tenantId } = await projectFactsOf(context, projectId);
    if (tenantId !== null) tenantsOfProjects.add(tenantId);
  }
  const seen = ({ tenantId, projectIds }: AgentReach): readonly ProjectId[] | null =>
    projectIds === null || tenants.has(tenantId) ? projectIds : projectIds.filter((one) => projects.has(one));
  return {
    sees({ reach = null }) {
      if (reach === null) return false;
      if (reach.projectIds === null) return tenants.has(reach.tenantId) || tenantsOfProjects.has(reach.tenantId);
      return seen(reach)!.length > 0;
    },
    reachOf: ({ reach = null }) => reach && { tenantId: reach.tenantId, projectIds: seen(reach) },
  };
}

/** An agent that the caller may see. Throws `not_found`. */
export async function seeAgent(
  context: RightsContext & WithStores<"identity">,
  caller: Caller,
  agentId: AgentId,
): Promise<Agent> {
  const { sees } = await agentSight(context, caller);
  const agent = await context.stores.identity.findAgent(agentId);
  if (agent === undefined || !sees(agent)) throw unknownAgent(agentId);
  return agent;
}

/** An agent that the caller may manage. Throws `not_found`, and `forbidden` for one that the caller may only see. */
export async function manageAgent(
  context: WithStores<"identity">,
  caller: Caller,
  agentId: AgentId,
): Promise<Reached<Agent>> {
  const found = await context.stores.identity.findAgent(agentId);
  const missing = () => unknownAgent(agentId);
  const user = authoriseManaging(caller, found ?? {}, missing);
  if (found === undefined) throw missing();
  return { user, found };
}

/** The caller as one who manages what has this reach. Throws `missing()` and `forbidden`. */
export function authoriseManaging(caller: Caller, { reach = null }: Bound, missing: () => MillraceError): ActingUser {
  const user = authoriseLookUp(caller, "manageAgents");
  if (reach !== null) user.trail?.actsIn({ tenantId: reach.tenantId });
  const bound = reach === null ? undefined : user.rights?.tenants.get(reach.tenantId);
  return authoriseAs(user, "manageAgents", highestRole(user.role, bound), missing);
}

/**
 * The reach that a caller gives, and the caller as one who manages agents there. Throws `malformed_request` for what the
 * caller may not see, and `forbidden`.
 */
export async function givenReach(
  context: RightsContext,
  caller: Caller,
  given: z.output<typeof reachBody> | undefined,
): Promise<{ readonly user: ActingUser; readonly reach: AgentReach | undefined }> {
  if (given === undefined) return { user: authoriseManaging(caller, {}, needsReach), reach: undefined };
  if ("tenantId" in given) {
    const tenantId = asId<TenantId>(given.tenantId);
    const missing = () => wrong("/reach/tenantId", `there is no tenant ${JSON.stringify(tenantId)}`);
    const { user } = await reachTenant(context, caller, "manageAgents", tenantId, missing);
    return { user, reach: { tenantId, projectIds: null } };
  }
  const projectIds = [...new Set(given.projectIds.map((one) => asId<ProjectId>(one)))];
  const managed: (readonly [TenantId, ActingUser])[] = [];
  for (const [at, projectId] of projectIds.entries()) {
    const missing = () => wrong(`/reach/projectIds/${at}`, `there is no project ${JSON.stringify(projectId)}`);
    const project = await context.stores.pipelines.findProject(projectId);
    if (project === undefined) throw missing();
    const tenantId = tenantOf(project);
    managed.push([tenantId, authoriseManaging(caller, { reach: { tenantId, projectIds } }, missing)]);
  }
  const [tenantId, user] = managed[0]!;
  if (managed.some(([other]) => other !== tenantId)) throw wrong("/reach/projectIds", "must be of one tenant");
  return { user, reach: { tenantId, projectIds } };
}

export function unknownAgent(agentId: AgentId): MillraceError {
  return new MillraceError("not_found", `there is no agent ${JSON.stringify(agentId)}`);
}

function needsReach(): MillraceError {
  return wrong("/reach", "must name a tenant, or projects of one, in which you have the role admin");
}

function wrong(pointer: string, message: string): MillraceError {
  return new MillraceError("malformed_request", `the body has problems: ${pointer} ${message}`, {
    problems: [{ code: "invalid", pointer, message }],
  });
}
