/** The system event that follows from an entry of the audit log: what was done, without the values. Pure. */
import type { SystemLifecycleOf } from "../domain/event-table/system-events.ts";
import {
  INSTALLATION_LOG,
  type SystemEventDraft,
  type SystemLifecycle,
  systemLogOf,
  type SystemObject,
} from "../domain/system-events.ts";
import type { AuditEntry } from "../stores/ports/audit.ts";
import type { ObjectKind } from "./entry.ts";

interface Told<O extends SystemObject = SystemObject> {
  readonly object: O;
  /** What has neither a state before nor one after it counts as changed. */
  readonly made: SystemLifecycleOf<O>;
  readonly changed: SystemLifecycleOf<O>;
  readonly removed: SystemLifecycleOf<O>;
  /** Operations with a word of their own. */
  readonly operations?: Readonly<Record<string, SystemLifecycleOf<O>>>;
}

function told<const O extends SystemObject>(rule: Told<O>): Told {
  return rule as unknown as Told;
}

const LIFE = { made: "created", changed: "updated", removed: "deleted" } as const;
const SETTINGS = told({ object: "settings", made: "updated", changed: "updated", removed: "updated" });

/** Null: runs have events of their own, and what belongs to them is told there or not at all. */
const TOLD_KINDS: Readonly<Record<ObjectKind, Told | null>> = {
  agent: told({
    object: "agent",
    made: "registered",
    changed: "updated",
    removed: "deleted",
    operations: {
      setAgentReach: "bound",
      drainAgent: "draining",
      undrainAgent: "undrained",
      revokeAgentToken: "revoked",
      unregisterAgent: "deleted",
    },
  }),
  pipeline: told({ object: "definition", ...LIFE }),
  definition: told({
    object: "definition",
    made: "saved",
    changed: "saved",
    removed: "deleted",
    operations: { restoreRevision: "restored" },
  }),
  project: told({ object: "project", ...LIFE }),
  tenant: told({ object: "tenant", ...LIFE }),
  settings: SETTINGS,
  retention: SETTINGS,
  logLimit: SETTINGS,
  trustDemand: SETTINGS,
  variable: told({ object: "variable", ...LIFE }),
  secret: told({ object: "secret", ...LIFE }),
  plugin: told({ object: "plugin", made: "created", changed: "created", removed: "deleted" }),
  webhook: told({ object: "webhook", ...LIFE }),
  hook: told({ object: "hook", ...LIFE }),
  user: told({ object: "user", ...LIFE }),
  serviceAccount: told({ object: "serviceAccount", made: "created", changed: "created", removed: "deleted" }),
  team: told({ object: "team", ...LIFE, operations: { addToTeam: "updated", removeFromTeam: "updated" } }),
  member: told({ object: "member", made: "updated", changed: "updated", removed: "deleted" }),
  token: told({ object: "token", made: "created", changed: "created", removed: "deleted" }),
  registrationToken: told({ object: "registrationToken", made: "created", changed: "created", removed: "deleted" }),
  session: told({ object: "session", made: "started", changed: "ended", removed: "ended" }),
  link: told({ object: "link", made: "created", changed: "created", removed: "created" }),
  installation: told({ object: "installation", made: "updated", changed: "updated", removed: "updated" }),
  schedule: null,
  run: null,
  job: null,
  step: null,
  approval: null,
  artifact: null,
  cache: null,
  upload: null,
  delivery: null,
  notificationChoices: null,
  deadLetter: null,
  call: null,
};

/** Ids in entries that name no object: a session that a device waits for, and a call that named nothing. */
const NO_OBJECTS: ReadonlySet<string> = new Set(["session/device", "installation/installation"]);

/** Null for a refusal, and for what changes a run. */
export function systemEventOf(entry: AuditEntry): SystemEventDraft | null {
  const { auditId, at, outcome, operation, object, actor, tenantId, projectId, onBehalfOf, before, after } = entry;
  if (outcome !== "done" || object === null) return null;
  const rule = TOLD_KINDS[object.kind as ObjectKind];
  if (rule === null || NO_OBJECTS.has(`${object.kind}/${object.id}`)) return null;
  const lifecycle = lifecycleOf(rule, entry);
  // The log of a tenant is removed with it.
  const isEndOfLog = rule.object === "tenant" && lifecycle !== "updated";
  return {
    log: isEndOfLog ? INSTALLATION_LOG : systemLogOf(tenantId),
    eventId: auditId,
    object: rule.object,
    lifecycle,
    timeMs: at,
    data: {
      id: object.id,
      name: object.name,
      projectId,
      operation,
      by: actor.name,
      actorKind: actor.kind,
      actorId: actor.id,
      onBehalfOf,
      changed: [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])],
    },
  };
}

function lifecycleOf({ made, changed, removed, operations = {} }: Told, entry: AuditEntry): SystemLifecycle {
  const { operation, before, after } = entry;
  const own = operations[operation];
  if (own !== undefined) return own;
  // Not every entry of a removal says what was there.
  if (operation.startsWith("delete")) return removed;
  if (!isWhole(entry)) return changed;
  if (before === null && after !== null) return made;
  return before !== null && after === null ? removed : changed;
}

/** A change that names no field, or a member of a team, leaves the object where it is. */
function isWhole({ object, before, after }: AuditEntry): boolean {
  const fields = Object.keys(before ?? after ?? {});
  return fields.length > 0 && !(object?.kind === "team" && fields.includes("member"));
}
