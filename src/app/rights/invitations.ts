/**
 * Invitations: new users who choose their password by a link. The inviter gives them a role in the installation, or roles
 * in tenants and projects and places in teams; who manages the members of a tenant invites into that tenant alone.
 */
import { z } from "zod";
import type { UserRecord } from "../identity/users.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, newId, type ProjectId, type TeamId, type TenantId, type UserId } from "../../domain/ids.ts";
import { type Area, isSameArea, type Role, ROLES } from "../../domain/roles.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import type { IdentityContext } from "../identity/context.ts";
import { type LinkView, makeLink } from "../identity/one-time-links.ts";
import { highestRoleOf, requireRole, requireUser } from "../identity/reaching-users.ts";
import { makeUser, userEmail, userName } from "../identity/users.ts";
import { createShownOnce, type WithRequestId } from "../request-ids.ts";
import { reachArea, requireRoleInArea } from "./areas.ts";
import type { RightsUseContext } from "./context.ts";
import { reachTeamOfAnyTenant } from "./teams.ts";

const MEMBERS = { tenant: "manageTenantMembers", project: "manageProjectMembers" } as const;
/** Roles, and teams, of one invitation. */
const MAX_PLACES = 50;

const areaId = z.string().min(1).max(64);
const area = z.union([z.strictObject({ tenantId: areaId }), z.strictObject({ projectId: areaId })]);

export const inviteBody = z
  .strictObject({
    name: userName,
    /** In the whole installation; null for a user who gets roles in tenants and projects only. */
    role: z.enum(ROLES).nullable().default(null),
    /** Roles in tenants and projects. */
    bound: z
      .array(z.strictObject({ area, role: z.enum(ROLES) }))
      .max(MAX_PLACES)
      .default([]),
    /** The ids of teams that the user joins. */
    teams: z.array(z.string().min(1).max(64)).max(MAX_PLACES).default([]),
    email: userEmail.optional(),
    /** How long the link is good. */
    days: z.int().min(1).max(30).default(7),
  })
  .check(({ value: { role, bound, teams }, issues }) => {
    const refuse = (path: string, message: string): void =>
      void issues.push({ code: "custom", input: undefined, path: [path], message });
    if (role === null && bound.length + teams.length === 0) {
      refuse("role", "is missing: give a role in the installation, roles in `bound`, or `teams`");
    }
    const areas = bound.map((one) => one.area as Area);
    if (areas.some((one, at) => areas.slice(0, at).some((other) => isSameArea(one, other)))) {
      refuse("bound", "must name each tenant and each project once");
    }
    if (new Set(teams).size < teams.length) refuse("teams", "must name each team once");
  });

/** What an invited user gets besides the role in the installation. */
interface Places {
  readonly bound: readonly { readonly area: Area; readonly role: Role }[];
  readonly teams: readonly TeamId[];
}

/**
 * Creates a user without a password, and a link with which the user sets one. Throws `forbidden` for a role above the
 * caller's own where it counts, `malformed_request` for a place that the caller may not see, and `already_exists` for a
 * name that is taken.
 */
export async function invite(
  context: IdentityContext & RightsUseContext,
  caller: Caller,
  { days, requestId, ...input }: z.output<typeof inviteBody> & WithRequestId,
  publicUrl: string,
): Promise<LinkView> {
  const { name, role, email } = input;
  const places: Places = {
    bound: input.bound.map((one) => ({ area: idsOf(one.area), role: one.role })),
    teams: input.teams.map((team) => asId<TeamId>(team)),
  };
  const { maker, within } = await authoriseInvitation(context, caller, { role, email, ...places });
  const user = { name, role, ...(email === undefined ? {} : { email }) };
  const { bound, teams } = places;
  return createShownOnce(context, {
    caller: maker,
    scope: "invite",
    requestId,
    body: { days, ...user, ...(bound.length > 0 && { bound }), ...(teams.length > 0 && { teams }) },
    freshId: () => newId("usr"),
    pointer: "/user/userId",
    remedy: "an administrator of the installation makes a new link with POST /users/:userId/reset-link",
    exists: async (userId) => (await context.stores.identity.findUser(userId)) !== undefined,
    create: async (userId) => {
      // Before the user: a call that is cut off leaves no user without the roles.
      await place(context, maker, userId, places);
      const record: UserRecord = { area: within, after: placesText(places) };
      try {
        const made = await makeUser(context, maker, userId, user, record);
        const highest = highestRoleOf(await requireUser(context, userId));
        return await makeLink(context, maker, { kind: "invitation", user: made, highest, days, publicUrl });
      } catch (error) {
        if (error instanceof MillraceError && error.reason === "already_exists") await unplace(context, userId, places);
        throw error;
      }
    },
  });
}

function idsOf(area: z.output<typeof inviteBody>["bound"][number]["area"]): Area {
  return "tenantId" in area
    ? { tenantId: asId<TenantId>(area.tenantId) }
    : { projectId: asId<ProjectId>(area.projectId) };
}

/** `within`: the tenant that the whole invitation is about; null for one that concerns the installation or several tenants. */
async function authoriseInvitation(
  context: RightsUseContext,
  caller: Caller,
  { role, email, bound, teams }: Places & { readonly role: Role | null; readonly email: string | undefined },
): Promise<{ readonly maker: UserCaller; readonly within: Area | null }> {
  let maker: UserCaller | undefined;
  if (role !== null) {
    maker = authoriseUser(caller, "manageUsers");
    requireRole(maker, role);
  } else if (email !== undefined) maker = authoriseAddress(caller);
  const tenants = new Set<TenantId>();
  for (const [at, { area, role: given }] of bound.entries()) {
    const { user, tenantId } = await named(`/bound/${at}/area`, () => reachArea(context, caller, area, MEMBERS));
    requireRoleInArea(user, given);
    maker ??= user;
    tenants.add(tenantId);
  }
  for (const [at, teamId] of teams.entries()) {
    const { user, team } = await named(`/teams/${at}`, () => reachTeamOfAnyTenant(context, caller, teamId));
    maker ??= user;
    tenants.add(team.tenantId);
  }
  const [tenantId] = tenants;
  const within = role === null && email === undefined && tenants.size === 1 ? { tenantId: tenantId! } : null;
  return { maker: maker!, within };
}

/**
 * Who verifies the address at a provider becomes the user, and the groups there may give more than the inviter of a tenant
 * has, who could have used the link to the user's password.
 */
function authoriseAddress(caller: Caller): UserCaller {
  try {
    return authoriseUser(caller, "manageUsers");
  } catch (error) {
    if (!(error instanceof MillraceError && error.reason === "forbidden")) throw error;
    throw new MillraceError("forbidden", `\`email\` is for administrators of the installation: leave it out`);
  }
}

/** What a body names and the caller may not see makes the body malformed. */
async function named<T>(pointer: string, reached: () => Promise<T>): Promise<T> {
  try {
    return await reached();
  } catch (error) {
    if (!(error instanceof MillraceError && error.reason === "not_found")) throw error;
    const { message } = error;
    throw new MillraceError("malformed_request", `${pointer}: ${message}`, {
      problems: [{ code: "unknown", pointer, message }],
    });
  }
}

async function place(
  { stores, clock }: RightsUseContext,
  { name: createdBy }: UserCaller,
  subjectId: UserId,
  { bound, teams }: Places,
): Promise<void> {
  for (const one of bound) await stores.rights.bind({ subjectId, ...one, createdAt: clock.now(), createdBy });
  for (const teamId of teams) await stores.rights.addToTeam(teamId, subjectId);
}

async function unplace({ stores }: RightsUseContext, userId: UserId, { bound, teams }: Places): Promise<void> {
  for (const { area } of bound) await stores.rights.unbind(userId, area);
  for (const teamId of teams) await stores.rights.removeFromTeam(teamId, userId);
}

function placesText({ bound, teams }: Places): {
  readonly bound?: readonly string[];
  readonly teams?: readonly string[];
} {
  const text = ({ area, role }: Places["bound"][number]): string =>
    `${role} in ${"tenantId" in area ? area.tenantId : area.projectId}`;
  return { ...(bound.length > 0 && { bound: bound.map(text) }), ...(teams.length > 0 && { teams }) };
}
