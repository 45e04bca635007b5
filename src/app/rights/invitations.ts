/**
 * Invitations: new users who choose their password by a link. The inviter gives them a role in the installation, or roles
 * in tenants and projects and places in teams; who manages the members of a tenant invites into that tenant alone.
 */
import { z } from "zod";
import type { UserRecord } from "../identity/users.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, newId, type ProjectId, type TeamId, type TenantId, type UserId } from "../../domain/ids.ts";
import { type Area, isSameArea, type Role, ROLES } from "../../domain/roles.ts";
import { authoriseLookUp, authoriseUser, type Caller, mayEverywhere, type UserCaller } from "../identity/access.ts";
import type { IdentityContext } from "../identity/context.ts";
import { dropLinks, type LinkView, makeLink } from "../identity/one-time-links.ts";
import {
  highestRoleOf,
  noUser,
  requirePerson,
  requireRole,
  requireUser,
  requireUserNamed,
} from "../identity/reaching-users.ts";
import { makeUser, userEmail, userName, userView } from "../identity/users.ts";
import type { FoundUser } from "../../stores/ports/identity.ts";
import { createShownOnce, type WithRequestId } from "../request-ids.ts";
import { reachArea, requireRoleInArea } from "./areas.ts";
import type { RightsUseContext } from "./context.ts";
import { reachTeamOfAnyTenant } from "./teams.ts";

const MEMBERS = { tenant: "manageTenantMembers", project: "manageProjectMembers" } as const;
/** Roles, and teams, of one invitation. */
const MAX_PLACES = 50;

const areaId = z.string().min(1).max(64);
const area = z.union([z.strictObject({ tenantId: areaId }), z.strictObject({ projectId: areaId })]);

/** How long the link is good. */
const days = z.int().min(1).max(30).default(7);

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
    days,
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

export const renewInvitationBody = z.strictObject({ days });

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
    remedy: "POST /invitations/:user/link makes a new link",
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

/**
 * A new link for a user who has not accepted the invitation; earlier links of the user are void. Who may give the user all
 * roles that the user has may renew the link; for a user without a role, who may put the user into all of the user's teams.
 * Throws `not_found`, also for a user who has no role and no team where the caller manages members; `forbidden` for a user
 * with a role that is above the caller's, or with a place elsewhere; and `conflict` for a user who has accepted or is disabled.
 */
export async function renewInvitation(
  context: IdentityContext & RightsUseContext,
  caller: Caller,
  { user: named, days }: z.output<typeof renewInvitationBody> & { readonly user: string },
  publicUrl: string,
): Promise<LinkView> {
  const looking = authoriseLookUp(caller, MEMBERS.project);
  const user = await requireUser(context, (await requireUserNamed(context, named)).userId);
  const maker = await authoriseRenewal(context, looking, user, named);
  requirePerson(user);
  await requireUnaccepted(context, user);
  await dropLinks(context, user.userId);
  const highest = highestRoleOf(user);
  return makeLink(context, maker, { kind: "invitation", user: userView(user), highest, days, publicUrl });
}

async function authoriseRenewal(
  context: RightsUseContext,
  caller: UserCaller,
  user: FoundUser,
  named: string,
): Promise<UserCaller> {
  if (mayEverywhere(caller, "manageUsers")) {
    requireRole(caller, highestRoleOf(user));
    return authoriseUser(caller, "manageUsers");
  }
  let maker: UserCaller | undefined;
  const refusals: MillraceError[] = [];
  for (const reach of await placesToReach(context, caller, user)) {
    try {
      const reached = await reach();
      maker ??= reached;
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      refusals.push(error);
    }
  }
  const forbidden = refusals.find(({ reason }) => reason === "forbidden");
  if (maker === undefined) throw forbidden ?? noUser(asId<UserId>(named));
  if (refusals.length === 0 && user.role === null && user.email === undefined) return maker;
  const text = `${user.name} has more than the roles that you give: an administrator of the installation renews the link`;
  throw forbidden ?? new MillraceError("forbidden", text);
}

/** The places of the user; each answers the caller, and rejects for one who may not give that place to the user. */
async function placesToReach(
  context: RightsUseContext,
  caller: UserCaller,
  { userId, bindings = [] }: FoundUser,
): Promise<readonly (() => Promise<UserCaller>)[]> {
  if (bindings.length > 0) {
    return bindings.map(({ area, role }) => async () => {
      const { user } = await reachArea(context, caller, area, MEMBERS);
      requireRoleInArea(user, role);
      return user;
    });
  }
  const teams = await context.stores.rights.teamsOf(userId);
  return teams.map((teamId) => async () => (await reachTeamOfAnyTenant(context, caller, teamId)).user);
}

/** Throws `conflict` for a user who can prove who it is: a link would let its maker take over what the user has made. */
async function requireUnaccepted({ stores }: IdentityContext, { userId, name, ...user }: FoundUser): Promise<void> {
  if (user.disabled) throw new MillraceError("conflict", `${name} is disabled: enable the user first`);
  const hasEntered =
    user.passwordHash !== "" ||
    (await stores.logins.listIdentities(userId)).length > 0 ||
    (await stores.identity.listTokens("personal", userId)).length > 0;
  if (!hasEntered) return;
  const text = `${name} has accepted the invitation: an administrator of the installation makes a link for a forgotten password with POST /users/:userId/reset-link`;
  throw new MillraceError("conflict", text);
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
