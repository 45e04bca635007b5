/** Members: users, service accounts and teams with a role in a tenant or a project. */
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type TeamId, type TenantId, type UserId } from "../../domain/ids.ts";
import { type Area, ROLES } from "../../domain/roles.ts";
import type { Binding, SubjectId } from "../../stores/ports/rights.ts";
import type { Caller } from "../identity/access.ts";
import { requireUserNamed } from "../identity/reaching-users.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { id, shape, time } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { reachArea, requireRoleInArea } from "./areas.ts";
import type { RightsUseContext } from "./context.ts";

export const memberBody = z.strictObject({ role: z.enum(ROLES) });

const READ = { tenant: "readTenants", project: "readProjects" } as const;
const MANAGE = { tenant: "manageTenantMembers", project: "manageProjectMembers" } as const;

export const MemberShape = shape("Member", () => ({
  kind: z.enum(["user", "serviceAccount", "team"]),
  /** The id of the user or the team. */
  memberId: id<SubjectId>(),
  name: z.string(),
  role: z.enum(ROLES),
  createdAt: time,
  createdBy: z.string(),
}));

type MemberView = z.infer<typeof MemberShape>;

interface AtMember {
  readonly area: Area;
  /** The id of a user or a team, or the name of a user. */
  readonly member: string;
}

/** Those who have a role in exactly this area, by their ids. Throws `not_found`. */
export async function listMembers(
  context: RightsUseContext,
  caller: Caller,
  { area, ...request }: { readonly area: Area } & WholeListRequest,
): Promise<WholeListView<MemberView>> {
  await reachArea(context, caller, area, READ);
  const bindings = await context.stores.rights.boundIn(area);
  const views = await Promise.all(bindings.map((binding) => memberView(context, binding)));
  const list = views.filter((view) => view !== undefined);
  return wholeListView(list, request, ({ memberId }) => ({ at: memberId, id: memberId }));
}

/**
 * Gives a role in an area, or replaces the one that the member has there. It counts from the next call on. Throws
 * `not_found`, and `forbidden` when the role, before or afterwards, is above the caller's own in the area.
 */
export async function putMember(
  context: RightsUseContext,
  caller: Caller,
  input: AtMember & z.output<typeof memberBody> & WithPrecondition<MemberView>,
): Promise<MemberView> {
  return changeUnmoved(() => tryToPut(context, caller, input));
}

async function tryToPut(
  context: RightsUseContext,
  caller: Caller,
  { area, member, role, match }: Parameters<typeof putMember>[2],
): Promise<MemberView | typeof MOVED> {
  const { user, tenantId } = await reachArea(context, caller, area, MANAGE);
  requireRoleInArea(user, role);
  const subjectId = await findMember(context, tenantId, member);
  const before = await findBinding(context, subjectId, area);
  if (before !== undefined) requireRoleInArea(user, before.role);
  match?.((before && (await memberView(context, before))) ?? missing(member));
  const binding: Binding = { subjectId, area, role, createdAt: context.clock.now(), createdBy: user.name };
  const change = { kind: "member", id: subjectId, name: member, area, after: { role } } as const;
  const recordable = before === undefined ? change : { ...change, before: { role: before.role } };
  const expected = match && before?.role;
  if (!(await recorded(user, recordable, () => context.stores.rights.bind(binding, expected)))) return MOVED;
  context.log.info({ subjectId, ...area, role, by: user.name, userId: user.userId }, "a member was given a role");
  return (await memberView(context, binding)) ?? missing(member);
}

/** The role of one member in an area. Throws `not_found`. */
export async function getMember(
  context: RightsUseContext,
  caller: Caller,
  { area, member }: AtMember,
): Promise<MemberView> {
  const { tenantId } = await reachArea(context, caller, area, READ);
  const binding = await findBinding(context, await findMember(context, tenantId, member), area);
  return (binding && (await memberView(context, binding))) ?? missing(member);
}

/**
 * Takes the role in an area away. A tenant or a project may be left without an owner: the owners of the installation,
 * of whom one always stays, can give it another one. Throws `not_found`, and `forbidden` for a role above the caller's
 * own in the area.
 */
export async function deleteMember(
  context: RightsUseContext,
  caller: Caller,
  { area, member }: AtMember,
): Promise<void> {
  const { user, tenantId } = await reachArea(context, caller, area, MANAGE);
  const subjectId = await findMember(context, tenantId, member);
  const binding = await findBinding(context, subjectId, area);
  if (binding === undefined) return missing(member);
  requireRoleInArea(user, binding.role);
  const change = { kind: "member", id: subjectId, name: member, area, before: { role: binding.role } } as const;
  await recorded(user, change, () => context.stores.rights.unbind(subjectId, area));
  context.log.info({ subjectId, ...area, by: user.name, userId: user.userId }, "a member's role was taken away");
}

async function findBinding(context: RightsUseContext, subjectId: SubjectId, area: Area): Promise<Binding | undefined> {
  return (await context.stores.rights.boundIn(area)).find((binding) => binding.subjectId === subjectId);
}

/** A team of another tenant is unknown here. */
async function findMember(context: RightsUseContext, tenantId: TenantId, member: string): Promise<SubjectId> {
  if (member.startsWith("team_")) {
    const team = await context.stores.rights.findTeam(asId<TeamId>(member));
    return team?.tenantId === tenantId ? team.teamId : missing(member);
  }
  return (await requireUserNamed(context, member)).userId;
}

/** Undefined for a member who was deleted at the same moment. */
async function memberView(context: RightsUseContext, binding: Binding): Promise<MemberView | undefined> {
  const { subjectId, role, createdAt, createdBy } = binding;
  const shown = { memberId: subjectId, role, createdAt: rfc3339(createdAt), createdBy };
  if (subjectId.startsWith("team_")) {
    const team = await context.stores.rights.findTeam(asId<TeamId>(subjectId));
    return team && { kind: "team", ...shown, name: team.name };
  }
  const user = await context.stores.identity.findUser(asId<UserId>(subjectId));
  return user && { kind: user.ownedBy === undefined ? "user" : "serviceAccount", ...shown, name: user.name };
}

function missing(member: string): never {
  throw new MillraceError("not_found", `there is no member ${JSON.stringify(member)} here`);
}
