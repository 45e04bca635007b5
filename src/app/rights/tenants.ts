/** Tenants: organisations that own projects. An installation begins with the tenant `default`. */
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { DEFAULT_TENANT, newId, type TenantId } from "../../domain/ids.ts";
import { ownerOf } from "../../stores/ports/documents.ts";
import type { Tenant } from "../../stores/ports/rights.ts";
import { areasBeingDeleted } from "../areas-being-deleted.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import { noTenant } from "../lookups.ts";
import { forgetTenantFacts } from "../project-facts.ts";
import { reachTenant, tenantIdsFor } from "../reaching.ts";
import { id, shape, time } from "../shapes.ts";
import { givenName } from "../given-names.ts";
import { givenSlug, requireOwnSlug, slugOf, slugTaken, storeWithSlug } from "../given-slugs.ts";
import { rfc3339 } from "../times.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import type { RightsUseContext } from "./context.ts";

const tenantName = givenName(100);

export const createTenantBody = z.strictObject({
  name: tenantName,
  /** Absent, it follows from the name. */
  slug: givenSlug.optional(),
});
export const changeTenantBody = z
  .strictObject({ name: tenantName.optional(), slug: givenSlug.optional(), archived: z.boolean().optional() })
  .refine((body) => Object.keys(body).length > 0, "must name at least one of name, slug and archived");

export const TenantShape = shape("Tenant", () => ({
  tenantId: id<TenantId>(),
  name: z.string(),
  /** Unique. */
  slug: z.string(),
  archived: z.boolean(),
  createdAt: time,
}));

type TenantView = z.infer<typeof TenantShape>;

/** Throws `already_exists` for a name or a slug that is taken. */
export async function createTenant(
  context: RightsUseContext,
  caller: Caller,
  { requestId, ...body }: z.output<typeof createTenantBody> & WithRequestId,
): Promise<TenantView> {
  const user = authoriseUser(caller, "createTenants");
  return createOnce(context, {
    caller: user,
    scope: "createTenant",
    requestId,
    body,
    freshId: () => newId("tnt"),
    find: async (tenantId) => {
      const found = await context.stores.rights.findTenant(tenantId);
      return found && tenantView(found);
    },
    create: (tenantId) => makeTenant(context, user, { ...body, tenantId }),
  });
}

async function makeTenant(
  context: RightsUseContext,
  user: UserCaller,
  { tenantId, name, slug: given }: Pick<Tenant, "tenantId"> & z.output<typeof createTenantBody>,
): Promise<TenantView> {
  const createdAt = context.clock.now();
  const made = await storeWithSlug({ kind: "tenant", id: tenantId, name, slug: given }, async (slug) => {
    const tenant: Tenant = { tenantId, name, slug, createdAt, archivedAt: null };
    const change = { kind: "tenant", id: tenantId, name, area: { tenantId }, after: tenantView(tenant) } as const;
    const isStored = await recorded(user, change, async () => {
      const outcome = await context.stores.rights.createTenant(tenant);
      if (outcome === "nameTaken") throw nameTaken(name);
      return outcome === "created";
    });
    return isStored ? tenant : ("slugTaken" as const);
  });
  context.log.info({ tenantId, by: user.name, userId: user.userId }, "a tenant was created");
  return tenantView(made);
}

/** The tenants in which the caller has a role, by their ids, archived ones too. */
export async function listTenants(
  context: RightsUseContext,
  caller: Caller,
  request: WholeListRequest = {},
): Promise<WholeListView<TenantView>> {
  const found = await context.stores.rights.listTenants(tenantIdsFor(caller, "readTenants"));
  const deleted = await areasBeingDeleted(context);
  const list = found.filter(({ tenantId }) => !deleted.has(ownerOf({ tenantId }))).map(tenantView);
  return wholeListView(list, request, ({ tenantId }) => ({ at: tenantId, id: tenantId }));
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
 * runs that are live go on. Throws `not_found`, `already_exists` for a name or a slug that is taken, and `conflict` when the default
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
  requireOwnSlug("tenant", tenantId, body.slug);
  const { name = stored.name, slug = stored.slug, archived = stored.archivedAt !== null } = body;
  if (archived && tenantId === DEFAULT_TENANT) {
    const text = `the tenant ${DEFAULT_TENANT} cannot be archived: projects without a tenant are in it`;
    throw new MillraceError("conflict", text);
  }
  const change = {
    name,
    ...(slug !== undefined && { slug }),
    archivedAt: archived ? (stored.archivedAt ?? context.clock.now()) : null,
  };
  const [before, after] = [tenantView(stored), tenantView({ ...stored, ...change })];
  const expected = match && { name: stored.name, slug: stored.slug, archivedAt: stored.archivedAt };
  const recordable = { kind: "tenant", id: tenantId, name: stored.name, before, after } as const;
  const isChanged = await recorded(user, recordable, async () => {
    const outcome = await context.stores.rights.changeTenant(tenantId, change, expected);
    if (outcome === "missing") throw noTenant(tenantId);
    if (outcome === "nameTaken") throw nameTaken(name);
    if (outcome === "slugTaken") throw slugTaken("tenant", slug ?? "");
    return outcome === "changed";
  });
  if (!isChanged) return MOVED;
  forgetTenantFacts(context);
  context.log.info({ tenantId, by: user.name, userId: user.userId, archived }, "a tenant was changed");
  return after;
}

function tenantView({ tenantId, name, slug, archivedAt, createdAt }: Tenant): TenantView {
  return { tenantId, name, slug: slugOf(tenantId, slug), archived: archivedAt !== null, createdAt: rfc3339(createdAt) };
}

function nameTaken(name: string): MillraceError {
  return new MillraceError("already_exists", `there is a tenant named ${JSON.stringify(name)} already`);
}
