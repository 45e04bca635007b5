/**
 * Builds entries of the audit log. Only the fields that {@link RECORDED_FIELDS} names get into an entry, so that no value of
 * a secret, no token and no password can. Pure.
 */
import { NOT_IN_NAMES } from "../domain/names.ts";
import type { AuditFields, AuditValue } from "../stores/ports/audit.ts";

/**
 * The fields that entries name, by the kind of the object. A field that may hold a secret of a user is not among them:
 * no variables, no address of a repository, no text of a definition.
 */
export const RECORDED_FIELDS = {
  tenant: ["name", "archived"],
  team: ["name", "member"],
  member: ["role"],
  user: ["name", "role", "disabled", "email", "bound", "teams", "issuer", "subject"],
  serviceAccount: ["name"],
  token: ["name", "scopes", "projects", "expiresAt", "subject"],
  registrationToken: ["name", "expiresAt", "maxUses", "labels"],
  session: ["kind", "token"],
  link: ["purpose", "expiresAt"],
  project: ["name", "description", "archived"],
  retention: ["runs", "logs", "artifacts", "events"],
  logLimit: ["lines", "bytes"],
  trustDemand: ["secrets", "protectedTargets"],
  settings: [
    "retention.runs",
    "retention.logs",
    "retention.artifacts",
    "retention.events",
    "log.lines",
    "log.bytes",
    "trust.secrets",
    "trust.protectedTargets",
    "forks.approval",
    "jobs.containers",
    "jobs.idToken",
    "jobs.api",
    "quota.perProject",
    "quota.perTenant",
    "quota.labels",
    "calls.perToken",
    "calls.perAddress",
  ],
  variable: ["bytes"],
  secret: ["version"],
  pipeline: [
    "name",
    "description",
    "enabled",
    "projectId",
    "repoUrl",
    "defaultBranch",
    "pipelineFilePath",
    "repoCredential",
    "repoProvider",
    "repoApiCredential",
    "commitStatuses",
    "saveMode",
    "prTargetBranch",
  ],
  definition: ["revisionId", "commit", "pullRequest"],
  schedule: ["state", "reason"],
  run: ["pipelineId", "revisionId", "attempt", "retryOf", "command"],
  job: ["runId", "command"],
  step: ["runId", "command", "priority", "metadataKeys"],
  approval: ["runId", "decision"],
  artifact: ["name"],
  cache: ["key"],
  upload: ["name", "size", "type", "status", "offset", "sha256"],
  plugin: ["version", "sha256"],
  agent: ["name", "labels", "reach", "drained", "reason"],
  webhook: ["address", "types", "ordered", "enabled", "description", "reason"],
  hook: ["name", "sender", "proof", "secretName", "enabled", "perMinute"],
  delivery: ["type", "runId"],
  notificationChoices: ["choices"],
  deadLetter: ["runId"],
  installation: ["shards", "masterKey"],
  call: [],
} as const satisfies Record<string, readonly string[]>;

export type ObjectKind = keyof typeof RECORDED_FIELDS;
/** A record with some of the fields of a kind. Every other field of it is left out of the entry. */
export type Recordable = Readonly<Record<string, unknown>>;

/** Characters of a value, of a name and of the name of a program. */
const MAX_VALUE_CHARS = 200;
/** Values of one list. */
const MAX_LISTED = 20;

const UNPRINTABLE = new RegExp(`[${NOT_IN_NAMES}]`, "gu");

/** A text as one line of at most `most` characters: what no name may hold is replaced. */
export function lineOf(text: string, most = MAX_VALUE_CHARS): string {
  const line = text.slice(0, 2 * most + 2).replace(UNPRINTABLE, "\ufffd");
  const characters = Array.from(line);
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join("")}…`;
}

/**
 * The recorded fields that differ between two records; null on the side of a record that is null. Of a record that has no
 * other side, all recorded fields.
 */
export function differenceOf(
  kind: ObjectKind,
  before: Recordable | null,
  after: Recordable | null,
): { readonly before: AuditFields | null; readonly after: AuditFields | null } {
  const [old, fresh] = [fieldsOf(kind, before), fieldsOf(kind, after)];
  if (old === null || fresh === null) return { before: old, after: fresh };
  // A change names only the fields that it sets: the others stay.
  const changed = Object.keys(fresh).filter((field) => JSON.stringify(old[field]) !== JSON.stringify(fresh[field]));
  const of = (fields: AuditFields) => Object.fromEntries(changed.map((field) => [field, fields[field] ?? null]));
  return { before: of(old), after: of(fresh) };
}

function fieldsOf(kind: ObjectKind, record: Recordable | null): AuditFields | null {
  if (record === null) return null;
  const named = RECORDED_FIELDS[kind].filter((field) => Object.hasOwn(record, field) && record[field] !== undefined);
  return Object.fromEntries(named.map((field) => [field, valueOf(record[field])]));
}

function valueOf(value: unknown): AuditValue {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return lineOf(value);
  if (Array.isArray(value)) {
    const shown = value.slice(0, MAX_LISTED).map((one: unknown) => textOf(one));
    return value.length > MAX_LISTED ? [...shown, "…"] : shown;
  }
  return textOf(value);
}

function textOf(value: unknown): string {
  return lineOf(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}
