/** Teams: groups of users that carry roles. A tenant owns them. */
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, newId, type TeamId, type TenantId, type UserId } from "../../domain/ids.ts";
import type { Team } from "../../stores/ports/rights.ts";
import { type ActingUser, authoriseLookUp, type Caller } from "../identity/access.ts";
import { requireUserNamed } from "../identity/reaching-users.ts";
import { reachTenant } from "../reaching.ts";
import { fields, id, listOf, shape, time } from "../shapes.ts";
import { givenName } from "../given-names.ts";
import { rfc3339 } from "../times.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import { requireRoles } from "./areas.ts";
import type { RightsUseContext } from "./context.ts";

export const teamBody = z.strictObject({
  name: givenName(100),
});

const teamFields = () => ({ teamId: id<TeamId>(), tenantId: id<TenantId>(), name: z.string(), createdAt: time });
export const TeamShape = shape("Team", teamFields);
export const TeamDetailsShape = shape("TeamDetails", () => ({
  ...teamFields(),
  members: listOf(fields(() => ({ userId: id<UserId>(), name: z.string() }))),
}));

type TeamView = z.infer<typeof TeamShape>;
type TeamDetails = z.infer<typeof TeamDetailsShape>;

interface AtTeam {
  readonly tenantId: TenantId;
  readonly teamId: TeamId;
}

/** Throws `not_found` for an unknown tenant, and `already_exists` for a name that is taken in it. */
export async function createTeam(
  context: RightsUseContext,
  caller: Caller,
  { tenantId, name, requestId }: z.output<typeof teamBody> & WithRequestId & { readonly tenantId: TenantId },
): Promise<TeamView> {
  const { user } = await reachTenant(context, caller, "manageTeams", tenantId);
  const { rights } = context.stores;
  return createOnce(context, {
    caller: user,
    scope: `createTeam/${tenantId}`,
    requestId,
    body: { name },
    freshId: () => newId("team"),
    find: async (teamId) => {
      const found = await rights.findTeam(teamId);
      return found && teamView(found);
    },
    create: async (teamId) => {
      const team: Team = { teamId, tenantId, name, createdAt: context.clock.now() };
      await recorded(user, { kind: "team", id: teamId, name, after: { name } }, async () => {
        if ((await rights.createTeam(team)) === "nameTaken") throw nameTaken(name);
      });
      context.log.info({ teamId, tenantId, by: user.name, userId: user.userId }, "a team was created");
      return teamView(team);
    },
  });
}

/** The teams of a tenant, by their names. Throws `not_found`. */
export async function listTeams(
  context: RightsUseContext,
  caller: Caller,
  { tenantId, ...request }: { readonly tenantId: TenantId } & WholeListRequest,
): Promise<WholeListView<TeamView>> {
  await reachTenant(context, caller, "readTenants", tenantId);
  const list = (await context.stores.rights.listTeams(tenantId)).map(teamView);
  return wholeListView(list, request, ({ name, teamId }) => ({ at: name, id: teamId }));
}

/** A team with its members. Throws `not_found`. */
export async function getTeam(context: RightsUseContext, caller: Caller, at: AtTeam): Promise<TeamDetails> {
  await reachTenant(context, caller, "readTenants", at.tenantId);
  return details(context, await findTeam(context, at));
}

/** Throws `not_found`, and `already_exists` for a name that is taken. */
export async function renameTeam(
  context: RightsUseContext,
  caller: Caller,
  input: AtTeam & z.output<typeof teamBody> & WithPrecondition<TeamView>,
): Promise<TeamView> {
  return changeUnmoved(() => tryToRename(context, caller, input));
}

async function tryToRename(
  context: RightsUseContext,
  caller: Caller,
  { name, match, ...at }: Parameters<typeof renameTeam>[2],
): Promise<TeamView | typeof MOVED> {
  const { user, team } = await reachTeam(context, caller, at);
  match?.(teamView(team));
  const change = {
    kind: "team",
    id: team.teamId,
    name: team.name,
    before: { name: team.name },
    after: { name },
  } as const;
  const isRenamed = await recorded(user, change, async () => {
    const outcome = await context.stores.rights.renameTeam(team.teamId, name, match && { name: team.name });
    if (outcome === "missing") throw noTeam(at.teamId);
    if (outcome === "nameTaken") throw nameTaken(name);
    return outcome === "changed";
  });
  if (!isRenamed) return MOVED;
  return teamView({ ...team, name });
}

/** Deletes a team with its roles; its members stay users. Throws `not_found`. */
export async function deleteTeam(context: RightsUseContext, caller: Caller, at: AtTeam): Promise<void> {
  const { user, team } = await reachTeam(context, caller, at);
  const { teamId, name } = team;
  await recorded(user, { kind: "team", id: teamId, name, before: { name } }, () =>
    context.stores.rights.deleteTeam(teamId),
  );
  context.log.info({ ...at, by: user.name, userId: user.userId }, "a team was deleted");
}

/**
 * Adds a user, named by id or name. The roles of the team count for the user from the next call on. Throws `not_found`,
 * and `forbidden` when a role of the team is above the caller's own: else callers could add themselves to higher teams.
 */
export async function addToTeam(
  context: RightsUseContext,
  caller: Caller,
  { member, ...at }: AtTeam & { readonly member: string },
): Promise<TeamDetails> {
  const { user, team } = await reachTeam(context, caller, at);
  const added = await requireUserNamed(context, member);
  const { teamId, name } = team;
  await recorded(user, { kind: "team", id: teamId, name, after: { member: `${added.name} (${added.userId})` } }, () =>
    context.stores.rights.addToTeam(teamId, added.userId),
  );
  context.log.info({ ...at, member: added.userId, by: user.name, userId: user.userId }, "a user joined a team");
  return details(context, team);
}

/** Throws `not_found`, and `forbidden` as {@link addToTeam}. */
export async function removeFromTeam(
  context: RightsUseContext,
  caller: Caller,
  { member, ...at }: AtTeam & { readonly member: string },
): Promise<void> {
  const { user, team } = await reachTeam(context, caller, at);
  const { identity, rights } = context.stores;
  const userId = (await identity.findUserByName(member))?.userId ?? asId<UserId>(member);
  const change = { kind: "team", id: team.teamId, name: team.name, before: { member: userId } } as const;
  if (!(await recorded(user, change, () => rights.removeFromTeam(team.teamId, userId)))) {
    throw new MillraceError("not_found", `the team has no member ${JSON.stringify(member)}`);
  }
  context.log.info({ ...at, member: userId, by: user.name, userId: user.userId }, "a user left a team");
}

/** A team that the caller may change: none of its roles is above the caller's own. */
async function reachTeam(
  context: RightsUseContext,
  caller: Caller,
  at: AtTeam,
): Promise<{ readonly user: ActingUser; readonly team: Team }> {
  const { user } = await reachTenant(context, caller, "manageTeams", at.tenantId);
  const team = await findTeam(context, at);
  await requireRoles(context, user, await context.stores.rights.boundTo(team.teamId));
  return { user, team };
}

/** {@link reachTeam} for a caller who names the team alone. Throws `not_found` with the words for an unknown team. */
export async function reachTeamOfAnyTenant(
  context: RightsUseContext,
  caller: Caller,
  teamId: TeamId,
): Promise<{ readonly user: ActingUser; readonly team: Team }> {
  authoriseLookUp(caller, "manageTeams");
  const team = await context.stores.rights.findTeam(teamId);
  if (team === undefined) throw noTeam(teamId);
  const { user } = await reachTenant(context, caller, "manageTeams", team.tenantId, () => noTeam(teamId));
  await requireRoles(context, user, await context.stores.rights.boundTo(teamId));
  return { user, team };
}

async function findTeam({ stores }: RightsUseContext, { tenantId, teamId }: AtTeam): Promise<Team> {
  const team = await stores.rights.findTeam(teamId);
  if (team?.tenantId !== tenantId) throw noTeam(teamId);
  return team;
}

async function details({ stores }: RightsUseContext, team: Team): Promise<TeamDetails> {
  const ids = await stores.rights.membersOf(team.teamId);
  const users = await Promise.all(ids.map((userId) => stores.identity.findUser(userId)));
  const members = users.flatMap((user) => (user === undefined ? [] : [{ userId: user.userId, name: user.name }]));
  return { ...teamView(team), members };
}

function teamView({ teamId, tenantId, name, createdAt }: Team): TeamView {
  return { teamId, tenantId, name, createdAt: rfc3339(createdAt) };
}

function noTeam(teamId: TeamId): MillraceError {
  return new MillraceError("not_found", `there is no team ${JSON.stringify(teamId)}`);
}

function nameTaken(name: string): MillraceError {
  return new MillraceError("already_exists", `the tenant has a team named ${JSON.stringify(name)} already`);
}
