/** Routes of tenants, teams, members and service accounts. */
import { wholeListQuery } from "../../app/lists.ts";
import type { AppContext } from "../../app/context.ts";
import { NewTokenShape, TokenShape } from "../../app/identity/personal-tokens.ts";
import { UserShape } from "../../app/identity/users.ts";
import { deleteMember, getMember, listMembers, memberBody, MemberShape, putMember } from "../../app/rights/members.ts";
import {
  createServiceAccount,
  createServiceToken,
  deleteServiceAccount,
  deleteServiceToken,
  listServiceAccounts,
  listServiceTokens,
  serviceAccountBody,
  serviceTokenBody,
} from "../../app/rights/service-accounts.ts";
import {
  addToTeam,
  createTeam,
  deleteTeam,
  getTeam,
  listTeams,
  removeFromTeam,
  renameTeam,
  teamBody,
  TeamDetailsShape,
  TeamShape,
} from "../../app/rights/teams.ts";
import {
  changeTenant,
  changeTenantBody,
  createTenant,
  createTenantBody,
  getTenant,
  listTenants,
  TenantShape,
} from "../../app/rights/tenants.ts";
import { deleteTenant } from "../../app/deletion/tenant-deletion.ts";
import { wholeOrPageOf } from "../../app/shapes.ts";
import type { z } from "zod";
import { asId, type ProjectId, type TeamId, type TenantId, type UserId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import { forceQuery } from "../request/force-query.ts";
import { routesFor } from "../route.ts";

const tenantRoute = routesFor<AppContext>("Tenants");
const teamRoute = routesFor<AppContext>("Teams");
const memberRoute = routesFor<AppContext>("Members");
const accountRoute = routesFor<AppContext>("Service accounts");

/** All of it can be changed. */
const tagged = (shown: unknown) => shown;
/** The members of a team are no part of its name. */
const teamTag = ({ teamId, name }: { readonly teamId: TeamId; readonly name: string }) => ({ teamId, name });
const memberTag = ({ memberId, role }: z.infer<typeof MemberShape>) => ({ memberId, role });

const TENANTS = [
  tenantRoute({
    method: "POST",
    path: "/tenants",
    name: "createTenant",
    about: "Creates a tenant.",
    body: createTenantBody,
    answer: TenantShape,
    errors: ["already_exists", "request_id_reused", "conflict"],
    creates: true,
    handle: (context, { caller, body, requestId }) => createTenant(context, caller, { ...body, requestId }),
  }),
  tenantRoute({
    method: "GET",
    path: "/tenants",
    name: "listTenants",
    about: "Lists the tenants in which the caller has a role, archived ones too.",
    query: wholeListQuery,
    answer: wholeOrPageOf(TenantShape),
    handle: (context, { caller, query }) => listTenants(context, caller, query),
  }),
  tenantRoute({
    method: "GET",
    path: "/tenants/:tenantId",
    name: "getTenant",
    about: "Reads a tenant.",
    answer: TenantShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getTenant(context, caller, params),
  }),
  tenantRoute({
    method: "PATCH",
    path: "/tenants/:tenantId",
    name: "changeTenant",
    about: "Renames a tenant, or archives it.",
    body: changeTenantBody,
    answer: TenantShape,
    errors: ["not_found", "already_exists", "conflict"],
    tagged,
    changes: { tagged },
    handle: (context, { caller, params, body, match }) => changeTenant(context, caller, { ...params, body, match }),
  }),
  tenantRoute({
    method: "DELETE",
    path: "/tenants/:tenantId",
    name: "deleteTenant",
    about: "Deletes a tenant with its teams and service accounts; with `force` also one that has projects, with them.",
    query: forceQuery,
    answer: null,
    errors: ["not_found", "conflict"],
    handle: (context, { caller, params, query }) => deleteTenant(context, caller, { ...params, ...query }),
  }),
];

const TEAMS = [
  teamRoute({
    method: "POST",
    path: "/tenants/:tenantId/teams",
    name: "createTeam",
    about: "Creates a team.",
    body: teamBody,
    answer: TeamShape,
    errors: ["not_found", "already_exists", "request_id_reused", "conflict"],
    creates: true,
    handle: (context, { caller, params, body, requestId }) =>
      createTeam(context, caller, { ...params, ...body, requestId }),
  }),
  teamRoute({
    method: "GET",
    path: "/tenants/:tenantId/teams",
    name: "listTeams",
    about: "Lists the teams of a tenant, by their names.",
    query: wholeListQuery,
    answer: wholeOrPageOf(TeamShape),
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listTeams(context, caller, { ...params, ...query }),
  }),
  teamRoute({
    method: "GET",
    path: "/tenants/:tenantId/teams/:teamId",
    name: "getTeam",
    about: "Reads a team with its members.",
    answer: TeamDetailsShape,
    errors: ["not_found"],
    tagged: teamTag,
    handle: (context, { caller, params }) => getTeam(context, caller, params),
  }),
  teamRoute({
    method: "PATCH",
    path: "/tenants/:tenantId/teams/:teamId",
    name: "renameTeam",
    about: "Renames a team.",
    body: teamBody,
    answer: TeamShape,
    errors: ["not_found", "already_exists"],
    tagged: teamTag,
    changes: { tagged: teamTag },
    handle: (context, { caller, params, body, match }) => renameTeam(context, caller, { ...params, ...body, match }),
  }),
  teamRoute({
    method: "DELETE",
    path: "/tenants/:tenantId/teams/:teamId",
    name: "deleteTeam",
    about: "Deletes a team with its roles; its members stay users.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deleteTeam(context, caller, params),
  }),
  teamRoute({
    method: "PUT",
    path: "/tenants/:tenantId/teams/:teamId/members/:member",
    name: "addToTeam",
    about: "Adds a user, named by id or name, to a team.",
    answer: TeamDetailsShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => addToTeam(context, caller, params),
  }),
  teamRoute({
    method: "DELETE",
    path: "/tenants/:tenantId/teams/:teamId/members/:member",
    name: "removeFromTeam",
    about: "Removes a user from a team.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => removeFromTeam(context, caller, params),
  }),
];

const inTenant = { prefix: "/tenants/:tenantId", word: "Tenant", area: tenantArea } as const;
const inProject = { prefix: "/projects/:projectId", word: "Project", area: projectArea } as const;

export const RIGHTS_ROUTES = [
  ...TENANTS,
  ...TEAMS,
  ...membersOf(inTenant),
  ...membersOf(inProject),
  ...accountsOf(inTenant),
  ...accountsOf(inProject),
];

/** Where tenants and projects have the same routes. */
type Kind = typeof inTenant | typeof inProject;

function tenantArea(params: Readonly<Record<string, string>>): Area {
  return { tenantId: asId<TenantId>(params["tenantId"]!) };
}

function projectArea(params: Readonly<Record<string, string>>): Area {
  return { projectId: asId<ProjectId>(params["projectId"]!) };
}

function membersOf({ prefix, word, area }: Kind) {
  return [
    memberRoute({
      method: "GET",
      path: `${prefix}/members`,
      name: `list${word}Members`,
      about: "Lists the users, service accounts and teams that have a role in exactly this place.",
      query: wholeListQuery,
      answer: wholeOrPageOf(MemberShape),
      errors: ["not_found"],
      handle: (context, { caller, params, query }) => listMembers(context, caller, { area: area(params), ...query }),
    }),
    memberRoute({
      method: "GET",
      path: `${prefix}/members/:member`,
      name: `get${word}Member`,
      about: "Reads the role of a user, named by id or name, or of a team in exactly this place.",
      answer: MemberShape,
      errors: ["not_found"],
      tagged: memberTag,
      handle: (context, { caller, params }) =>
        getMember(context, caller, { area: area(params), member: params.member }),
    }),
    memberRoute({
      method: "PUT",
      path: `${prefix}/members/:member`,
      name: `put${word}Member`,
      about: "Gives a role to a user, named by id or name, or to a team, or replaces the role.",
      body: memberBody,
      answer: MemberShape,
      errors: ["not_found"],
      tagged: memberTag,
      changes: { tagged: memberTag },
      handle: (context, { caller, params, body, match }) =>
        putMember(context, caller, { area: area(params), member: params.member, ...body, match }),
    }),
    memberRoute({
      method: "DELETE",
      path: `${prefix}/members/:member`,
      name: `delete${word}Member`,
      about: "Takes a role away.",
      answer: null,
      errors: ["not_found"],
      handle: (context, { caller, params }) =>
        deleteMember(context, caller, { area: area(params), member: params.member }),
    }),
  ];
}

function accountsOf({ prefix, word, area }: Kind) {
  const account = (params: { readonly userId: string } & Readonly<Record<string, string>>) => ({
    area: area(params),
    userId: asId<UserId>(params.userId),
  });
  return [
    accountRoute({
      method: "POST",
      path: `${prefix}/service-accounts`,
      name: `create${word}ServiceAccount`,
      about: "Makes a service account, which has no role yet.",
      body: serviceAccountBody,
      answer: UserShape,
      errors: ["not_found", "already_exists", "request_id_reused", "conflict"],
      creates: true,
      handle: (context, { caller, params, body, requestId }) =>
        createServiceAccount(context, caller, { ...body, requestId, area: area(params) }),
    }),
    accountRoute({
      method: "GET",
      path: `${prefix}/service-accounts`,
      name: `list${word}ServiceAccounts`,
      about: "Lists the service accounts, oldest first.",
      query: wholeListQuery,
      answer: wholeOrPageOf(UserShape),
      errors: ["not_found"],
      handle: (context, { caller, params, query }) =>
        listServiceAccounts(context, caller, { area: area(params), ...query }),
    }),
    accountRoute({
      method: "DELETE",
      path: `${prefix}/service-accounts/:userId`,
      name: `delete${word}ServiceAccount`,
      about: "Deletes a service account with its tokens and roles.",
      answer: null,
      errors: ["not_found"],
      handle: (context, { caller, params }) => deleteServiceAccount(context, caller, account(params)),
    }),
    accountRoute({
      method: "POST",
      path: `${prefix}/service-accounts/:userId/tokens`,
      name: `create${word}ServiceToken`,
      about: "Makes a token of a service account, which only this answer shows.",
      body: serviceTokenBody,
      answer: NewTokenShape,
      errors: ["not_found", "already_exists", "request_id_reused", "conflict"],
      creates: true,
      handle: (context, { caller, params, body, requestId }) =>
        createServiceToken(context, caller, { ...account(params), body: { ...body, requestId } }),
    }),
    accountRoute({
      method: "GET",
      path: `${prefix}/service-accounts/:userId/tokens`,
      name: `list${word}ServiceTokens`,
      about: "Lists the tokens of a service account, oldest first.",
      query: wholeListQuery,
      answer: wholeOrPageOf(TokenShape),
      errors: ["not_found"],
      handle: (context, { caller, params, query }) => listServiceTokens(context, caller, account(params), query),
    }),
    accountRoute({
      method: "DELETE",
      path: `${prefix}/service-accounts/:userId/tokens/:tokenId`,
      name: `delete${word}ServiceToken`,
      about: "Deletes a token of a service account.",
      answer: null,
      errors: ["not_found"],
      handle: (context, { caller, params }) =>
        deleteServiceToken(context, caller, { ...account(params), tokenId: params.tokenId }),
    }),
  ];
}
