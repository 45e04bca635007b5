/** Tenants: organisations that own projects. An installation begins with the tenant `default`. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { DEFAULT_TENANT, newId, type TenantId } from "../../domain/ids.ts";
import { ownerOf } from "../../stores/ports/documents.ts";
import type { Tenant } from "../../stores/ports/rights.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import { noTenant } from "../lookups.ts";
import { forgetTenantFacts } from "../project-facts.ts";
import { reachTenant, tenantIdsFor } from "../reaching.ts";
import { id, shape, time } from "../shapes.ts";
import { givenName } from "../given-names.ts";
import { rfc3339 } from "../times.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import type { RightsUseContext } from "./context.ts";

const tenantName = givenName(100);

export const createTenantBody = z.strictObject({ name: tenantName });
export const changeTenantBody = z
  .strictObject({ name: tenantName.optional(), archived: z.boolean().optional() })
  .refine((body) => Object.keys(body).length > 0, "must name at least one of name and archived");

export const TenantShape = shape("Tenant", {
  tenantId: id<TenantId>(),
  name: z.string(),
  archived: z.boolean(),
  createdAt: time,
});

type TenantView = z.infer<typeof TenantShape>;

/** Throws `already_exists` for a name that is taken. */
export async function createTenant(
  context: RightsUseContext,
  caller: Caller,
  { name, requestId }: z.output<typeof createTenantBody> & WithRequestId,
): Promise<TenantView> {
  const user = authoriseUser(caller, "createTenants");
  return createOnce(context, {
    caller: user,
    scope: "createTenant",
    requestId,
    body: { name },
    freshId: () => newId("tnt"),
    find: async (tenantId) => {
      const found = await context.stores.rights.findTenant(tenantId);
      return found && tenantView(found);
    },
    create: (tenantId) => makeTenant(context, user, { tenantId, name }),
  });
}

async function makeTenant(
  context: RightsUseContext,
  user: UserCaller,
  { tenantId, name }: Pick<Tenant, "tenantId" | "name">,
): Promise<TenantView> {
  const tenant: Tenant = { tenantId, name, createdAt: context.clock.now(), archivedAt: null };
  const change = { kind: "tenant", id: tenantId, name, area: { tenantId }, after: tenantView(tenant) } as const;
  await recorded(user, change, async () => {
    if ((await context.stores.rights.createTenant(tenant)) === "nameTaken") throw nameTaken(name);
  });
  context.log.info({ tenantId, by: user.name, userId: user.userId }, "a tenant was created");
  return tenantView(tenant);
}

/** The tenants in which the caller has a role, by their ids, archived ones too. */
export async function listTenants(
  context: RightsUseContext,
  caller: Caller,
): Promise<{ readonly list: readonly TenantView[]; readonly total: number }> {
  const list = (await context.stores.rights.listTenants(tenantIdsFor(caller, "readTenants"))).map(tenantView);
  return { list, total: list.length };
}

/** Throws `not_found`. */
export async function getTenant(
  context: RightsUseContext,
  caller: Caller,
  { tenantId }: { readonly tenantId: TenantId },
): Promise<TenantView> {
  return tenantView((await reachTenant(context, caller, "readTenants", tenantId)).found);
}

/**
 * Changes the fields that are given. An archived tenant takes no new projects, and within 2 s no new pipelines and runs;
 * runs that are live go on. Throws `not_found`, `already_exists` for a name that is taken, and `conflict` when the default
 * tenant would be archived.
 */
export async function changeTenant(
  context: RightsUseContext,
  caller: Caller,
  input: {
    readonly tenantId: TenantId;
    readonly body: z.output<typeof changeTenantBody>;
  } & WithPrecondition<TenantView>,
): Promise<TenantView> {
  return changeUnmoved(() => tryToChange(context, caller, input));
}

async function tryToChange(
  context: RightsUseContext,
  caller: Caller,
  { tenantId, body, match }: Parameters<typeof changeTenant>[2],
): Promise<TenantView | typeof MOVED> {
  const { user, found: stored } = await reachTenant(context, caller, "manageTenants", tenantId);
  match?.(tenantView(stored));
  const { name = stored.name, archived = stored.archivedAt !== null } = body;
  if (archived && tenantId === DEFAULT_TENANT) throw isDefault("archived");
  const change = { name, archivedAt: archived ? (stored.archivedAt ?? context.clock.now()) : null };
  const [before, after] = [tenantView(stored), tenantView({ ...stored, ...change })];
  const expected = match && { name: stored.name, archivedAt: stored.archivedAt };
  const recordable = { kind: "tenant", id: tenantId, name: stored.name, before, after } as const;
  const isChanged = await recorded(user, recordable, async () => {
    const outcome = await context.stores.rights.changeTenant(tenantId, change, expected);
    if (outcome === "missing") throw noTenant(tenantId);
    if (outcome === "nameTaken") throw nameTaken(name);
    return outcome === "changed";
  });
  if (!isChanged) return MOVED;
  forgetTenantFacts(context);
  context.log.info({ tenantId, by: user.name, userId: user.userId, archived }, "a tenant was changed");
  return after;
}

/**
 * Deletes a tenant with its teams, its service accounts and the roles in it. Throws `not_found`, and `conflict` for a
 * tenant that has projects and for the default one.
 */
export async function deleteTenant(
  context: RightsUseContext,
  caller: Caller,
  { tenantId }: { readonly tenantId: TenantId },
): Promise<void> {
  const { user, found: tenant } = await reachTenant(context, caller, "deleteTenants", tenantId);
  if (tenantId === DEFAULT_TENANT) throw isDefault("deleted");
  const { documents, identity, pipelines, rights } = context.stores;
  // An archived tenant takes no new project, so that none is made while this call looks for them.
  await rights.changeTenant(tenantId, { archivedAt: context.clock.now() });
  const [project] = await pipelines.listProjects({ projectIds: [], tenantIds: [tenantId] });
  if (project !== undefined) {
    if (tenant.archivedAt === null) await recordArchived(context, user, tenant);
    throw new MillraceError(
      "conflict",
      `the tenant still has the project ${JSON.stringify(project.name)}: delete its projects first; it is archived now`,
    );
  }
  for (const { userId } of await identity.listOwnedBy({ tenantId })) await identity.deleteUser(userId);
  await documents.deleteOf(ownerOf({ tenantId }));
  const change = { kind: "tenant", id: tenantId, name: tenant.name, before: tenantView(tenant) } as const;
  await recorded(user, change, () => rights.deleteTenant(tenantId));
  context.log.info({ tenantId, by: user.name, userId: user.userId }, "a tenant was deleted");
}

/** The deletion was refused, and has archived the tenant all the same. */
async function recordArchived({ stores, clock }: RightsUseContext, user: UserCaller, tenant: Tenant): Promise<void> {
  const { tenantId, name } = tenant;
  const change = {
    kind: "tenant",
    id: tenantId,
    name,
    before: { archived: false },
    after: { archived: true },
  } as const;
  await recorded(user, change, () => stores.rights.changeTenant(tenantId, { archivedAt: clock.now() }));
}

function tenantView({ tenantId, name, archivedAt, createdAt }: Tenant): TenantView {
  return { tenantId, name, archived: archivedAt !== null, createdAt: rfc3339(createdAt) };
}

function isDefault(what: string): MillraceError {
  return new MillraceError(
    "conflict",
    `the tenant ${DEFAULT_TENANT} cannot be ${what}: projects without a tenant are in it`,
  );
}

function nameTaken(name: string): MillraceError {
  return new MillraceError("already_exists", `there is a tenant named ${JSON.stringify(name)} already`);
}
