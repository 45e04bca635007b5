/** Gives a user the places that the user's groups at a provider give, and takes away those that they no longer give. */
import { recorded, type Trail } from "../../audit/trail.ts";
import type { TeamId, UserId } from "../../domain/ids.ts";
import type { Area, Role } from "../../domain/roles.ts";
import { isBeingDeleted } from "../areas-being-deleted.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { IdentityContext } from "../identity/context.ts";
import { changesOf, type PlaceChanges } from "./group-mapping.ts";
import type { OidcProviderSettings } from "./provider-settings.ts";

/** A login may change several objects, and each change has an entry of its own in the audit log. */
export type OidcContext = IdentityContext &
  Pick<AppContext, "log"> &
  WithStores<"rights" | "pipelines"> & {
    readonly recording: <T>(operation: string, change: (trail: Trail) => Promise<T>) => Promise<T>;
  };

interface Member {
  readonly userId: UserId;
  readonly name: string;
  readonly role: Role | null;
}

/** The name under which the changes of the audit log stand that the groups of a user have caused. */
const OPERATION = "applyGroups";

/** Places that do not exist, or no longer, are left out. */
export async function applyGroups(
  context: OidcContext,
  settings: OidcProviderSettings,
  user: Member,
  groups: readonly string[],
): Promise<void> {
  const { rights } = context.stores;
  const named = Object.keys(settings.teams ?? {}) as TeamId[];
  const bindings = await rights.boundTo(user.userId);
  const memberships = await Promise.all(
    named.map(async (teamId) => ((await rights.membersOf(teamId)).includes(user.userId) ? [teamId] : [])),
  );
  const now = { role: user.role, bound: bindings, teams: memberships.flat() };
  const changes = changesOf(settings, groups, now);
  await changeRole(context, user, changes.role);
  for (const change of changes.bound) await changeBinding(context, settings, user, change);
  for (const teamId of changes.joined) await changeTeam(context, settings, user, { teamId, joins: true });
  for (const teamId of changes.left) await changeTeam(context, settings, user, { teamId, joins: false });
}

async function changeRole(context: OidcContext, user: Member, role: Role | null): Promise<void> {
  if (user.role === role) return;
  const { userId, name } = user;
  const change = { kind: "user", id: userId, name, before: { role: user.role }, after: { role } } as const;
  let outcome = "";
  await recordedFor(context, user, (trail) =>
    recorded({ trail }, change, async () => {
      outcome = await context.stores.identity.changeUser(userId, { role });
      return outcome === "changed";
    }),
  );
  if (outcome === "changed") return;
  context.log.warn({ user: name, role, outcome }, "the role of the user's groups could not be given");
}

async function changeBinding(
  context: OidcContext,
  { id }: OidcProviderSettings,
  user: Member,
  { area, before, role }: PlaceChanges["bound"][number],
): Promise<void> {
  if (!(await exists(context, area))) return unknown(context, id, area);
  const { rights } = context.stores;
  const { userId, name } = user;
  const change = {
    kind: "member",
    id: userId,
    name,
    area,
    ...(before !== null && { before: { role: before } }),
    ...(role !== null && { after: { role } }),
  } as const;
  const binding = { subjectId: userId, area, createdAt: context.clock.now(), createdBy: `the provider ${id}` };
  await recordedFor(context, user, (trail) =>
    recorded({ trail }, change, () =>
      role === null ? rights.unbind(userId, area) : rights.bind({ ...binding, role }, before ?? undefined),
    ),
  );
}

async function changeTeam(
  context: OidcContext,
  { id }: OidcProviderSettings,
  user: Member,
  { teamId, joins }: { readonly teamId: TeamId; readonly joins: boolean },
): Promise<void> {
  const { rights } = context.stores;
  const team = await rights.findTeam(teamId);
  if (team === undefined) return unknown(context, id, { teamId });
  const area = { tenantId: team.tenantId };
  const member = { member: `${user.name} (${user.userId})` };
  const change = { kind: "team", id: teamId, name: team.name, area } as const;
  await recordedFor<unknown>(context, user, (trail) =>
    joins
      ? recorded({ trail }, { ...change, after: member }, () => rights.addToTeam(teamId, user.userId))
      : recorded({ trail }, { ...change, before: member }, () => rights.removeFromTeam(teamId, user.userId)),
  );
}

/** The user is the actor, whom the provider has proven. */
function recordedFor<T>(
  context: OidcContext,
  { userId, name }: Member,
  change: (trail: Trail) => Promise<T>,
): Promise<T> {
  return context.recording(OPERATION, (trail) => {
    trail.proved({ kind: "user", id: userId, name, proof: null });
    return change(trail);
  });
}

async function exists(context: OidcContext, area: Area): Promise<boolean> {
  const { rights, pipelines } = context.stores;
  const found =
    "tenantId" in area ? await rights.findTenant(area.tenantId) : await pipelines.findProject(area.projectId);
  return found !== undefined && !(await isBeingDeleted(context, area));
}

function unknown({ log }: OidcContext, provider: string, place: Area | { readonly teamId: TeamId }): void {
  log.warn({ provider, ...place }, "the provider's groups are mapped to a place that does not exist");
}
