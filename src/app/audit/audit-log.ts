/** The audit log as its readers see it: page by page, and as a whole. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type AuditId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { roleReaches } from "../../domain/roles.ts";
import {
  AUDIT_ACTORS,
  AUDIT_DOORS,
  AUDIT_OUTCOMES,
  type AuditArea,
  type AuditEntry,
  type AuditFilter,
  type AuditPage,
} from "../../stores/ports/audit.ts";
import type { WithStores } from "../context.ts";
import { authoriseLookUp, type Caller, mayEverywhere } from "../identity/access.ts";
import { USER_OPERATIONS } from "../identity/operations.ts";
import { afterField, cursorOf } from "../lists.ts";
import { fields, id, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

type AuditContext = WithStores<"audit">;

const MAX_LIMIT = 100;
/** Entries that an export holds in memory at once. */
const EXPORTED_AT_ONCE = 200;

const word = z.string().min(1).max(200).optional();
const moment = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-01-31T12:00:00Z" })
  .transform((text) => Date.parse(text))
  .optional();
const filterFields = {
  /** The id of a user, an agent or a token. */
  actor: word,
  operation: word,
  /** The id of the object. */
  object: word,
  project: word,
  outcome: z.enum(AUDIT_OUTCOMES).optional(),
  /** The first time that counts. */
  since: moment,
  /** The first time that no longer counts. */
  until: moment,
};

export const auditQuery = z.strictObject({
  ...filterFields,
  after: afterField.optional(),
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(20),
});
export const auditExportQuery = z.strictObject(filterFields);

const values = mapOf(z.union([z.string(), z.number(), z.boolean(), z.null(), listOf(z.string())])).nullable();

export const AuditEntryShape = shape("AuditEntry", () => ({
  auditId: id<AuditId>(),
  time,
  outcome: z.enum(AUDIT_OUTCOMES),
  operation: z.string(),
  actor: fields(() => ({
    kind: z.enum(AUDIT_ACTORS),
    id: z.string().nullable(),
    /** The name at that time. */
    name: z.string(),
    /** The session or personal token that proved the actor. */
    proof: z.string().nullable(),
  })),
  onBehalfOf: z.string().nullable(),
  tenantId: id<TenantId>().nullable(),
  projectId: id<ProjectId>().nullable(),
  object: fields(() => ({ kind: z.string(), id: z.string(), name: z.string().nullable() })).nullable(),
  from: fields(() => ({
    door: z.enum(AUDIT_DOORS),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
  })),
  requestId: z.string().nullable(),
  before: values,
  after: values,
  reason: z.string().nullable(),
  leftOut: wholeNumber,
}));

export const AuditPageShape = fields(() => ({
  list: listOf(AuditEntryShape),
  /** `after` of the next page; null on the last one. */
  next: z.string().nullable(),
}));

type EntryView = z.infer<typeof AuditEntryShape>;

/** The newest first. Entries that the caller may not see are left out. Throws `forbidden` for callers who may see none. */
export async function listAudit(
  { stores }: AuditContext,
  caller: Caller,
  { after, limit, ...query }: z.output<typeof auditQuery>,
): Promise<z.infer<typeof AuditPageShape>> {
  const areas = areasFor(caller);
  const found = await pageOf(stores.audit, areas, filterOf(query), { after, limit: limit + 1, descending: true });
  const list = found.slice(0, limit);
  const last = list.at(-1);
  const next = found.length > limit && last !== undefined ? cursorOf({ at: last.at, id: last.auditId }) : null;
  return { list: list.map(entryView), next };
}

/**
 * All entries that match, the oldest first, one JSON text a line. Entries that are added while the export goes on are in it
 * when they match. Throws as {@link listAudit}.
 */
export function exportAudit(
  { stores }: AuditContext,
  caller: Caller,
  query: z.output<typeof auditExportQuery>,
): AsyncGenerator<string, void, void> {
  const areas = areasFor(caller);
  return linesOf(stores.audit, areas, filterOf(query));
}

async function* linesOf(
  store: AuditContext["stores"]["audit"],
  areas: readonly AuditArea[],
  filter: Filter,
): AsyncGenerator<string, void, void> {
  let after: AuditPage["after"];
  for (;;) {
    const page = await pageOf(store, areas, filter, { after, limit: EXPORTED_AT_ONCE, descending: false });
    if (page.length > 0) yield page.map((entry) => `${JSON.stringify(entryView(entry))}\n`).join("");
    const last = page.at(-1);
    if (last === undefined || page.length < EXPORTED_AT_ONCE) return;
    after = { at: last.at, id: last.auditId };
  }
}

type Filter = Omit<AuditFilter, "area">;

function filterOf(query: z.output<typeof auditExportQuery>): Filter {
  const { actor, operation, object, project, outcome, since, until } = query;
  return {
    actorId: actor,
    operation,
    objectId: object,
    ...(project !== undefined && { projectId: asId<ProjectId>(project) }),
    outcome,
    since,
    until,
  };
}

/** The areas whose entries the caller may read. */
function areasFor(caller: Caller): readonly AuditArea[] {
  const user = authoriseLookUp(caller, "readAudit");
  if (mayEverywhere(user, "readInstallationAudit")) return ["installation"];
  if (mayEverywhere(user, "readAudit")) return ["tenants"];
  const needed = USER_OPERATIONS.readAudit.role;
  const tenants = [...(user.rights?.tenants ?? [])].filter(([, role]) => roleReaches(role, needed));
  const projects = [...(user.rights?.projects ?? [])].filter(([, role]) => roleReaches(role, needed));
  const areas = [...tenants.map(([tenantId]) => ({ tenantId })), ...projects.map(([projectId]) => ({ projectId }))];
  if (areas.length === 0 && user.rights !== undefined) {
    throw new MillraceError("forbidden", `this operation needs the role ${needed} in a tenant or a project`);
  }
  return areas;
}

/** A page of several areas together: the first entries of each, in one order. */
async function pageOf(
  store: AuditContext["stores"]["audit"],
  areas: readonly AuditArea[],
  filter: Filter,
  page: AuditPage,
): Promise<readonly AuditEntry[]> {
  const pages = await Promise.all(areas.map((area) => store.page({ ...filter, area }, page)));
  const [only] = pages;
  if (pages.length === 1 && only !== undefined) return only;
  // An entry of a project may be one of its tenant as well.
  const all = [...new Map(pages.flat().map((entry) => [entry.auditId, entry])).values()];
  const sign = page.descending ? -1 : 1;
  return all.sort((a, b) => sign * (a.at - b.at || (a.auditId < b.auditId ? -1 : 1))).slice(0, page.limit);
}

function entryView({ at, ...entry }: AuditEntry): EntryView {
  return { ...entry, time: rfc3339(at) };
}
