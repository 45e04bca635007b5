/** The audit log in SQLite. */
import type { SystemEventDraft } from "../../domain/system-events.ts";
import type { AuditArea, AuditEntry, AuditFilter, AuditStore } from "../ports/audit.ts";
import { bodiesOf } from "./bodies.ts";
import type { Database } from "./database.ts";
import { appendEventNow } from "./system-events.ts";

const INSERT = "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";

export function auditStore(db: Database): AuditStore {
  const insert = (entry: AuditEntry, event: SystemEventDraft | null): void => {
    const { at, auditId, tenantId, projectId, actor, operation, object, outcome } = entry;
    const objectId = object?.id ?? null;
    db.runNow(INSERT, at, auditId, tenantId, projectId, actor.id, operation, objectId, outcome, JSON.stringify(entry));
    if (event !== null) appendEventNow(db, event);
  };
  return {
    // The change of a full store that frees room has been made when its entry follows. Refusals must not use that room.
    append: (entry, event = null) =>
      entry.outcome === "done" ? db.freeing(() => insert(entry, event)) : db.transaction(() => insert(entry, event)),
    async appendWith(entry, write, event = null) {
      const { result, hasAdded } = await db.adding(() => insert(entry, event), write);
      return { result, stored: hasAdded };
    },
    // An entry and its event are stored together.
    settleEvents: () => Promise.resolve(0),
    async page(filter, { after, limit, descending }) {
      const { conditions, values } = conditionsOf(filter);
      if (after !== undefined) {
        conditions.push(`(at, audit_id) ${descending ? "<" : ">"} (?, ?)`);
        values.push(after.at, after.id);
      }
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      const order = descending ? "at DESC, audit_id DESC" : "at, audit_id";
      return bodiesOf<AuditEntry>(
        await db.all(`SELECT body FROM audit ${where} ORDER BY ${order} LIMIT ?`, ...values, limit),
      );
    },
    forget: (before, limit) =>
      db.freeing(() =>
        db.runNow(
          `DELETE FROM audit WHERE (at, audit_id) IN
             (SELECT at, audit_id FROM audit WHERE at < ? ORDER BY at, audit_id LIMIT ?)`,
          before,
          limit,
        ),
      ),
  };
}

/**
 * The conditions of a filter. Of several columns only the one that is likely to leave the fewest entries may choose the
 * index: a plus sign before the others keeps their indexes out of the plan.
 */
function conditionsOf(filter: AuditFilter): { readonly conditions: string[]; readonly values: (string | number)[] } {
  const { area, objectId, actorId, projectId, operation, outcome, since, until } = filter;
  const equal = [
    ["object_id", objectId],
    ["actor_id", actorId],
    ["project_id", projectId],
    ["project_id", ofArea(area, "projectId")],
    ["outcome", outcome],
    ["operation", operation],
    ["tenant_id", ofArea(area, "tenantId")],
  ] as const;
  const given = equal.filter(([, value]) => value !== undefined);
  // The partial index of outcomes is found only by what its own condition says.
  const conditions = given.map(([column], place) => `${place === 0 ? "" : "+"}${column} = ?`);
  if (given[0]?.[0] === "outcome" && outcome !== "done") conditions.push("outcome <> 'done'");
  const values: (string | number)[] = given.map(([, value]) => value!);
  if (area === "tenants") conditions.push("+tenant_id IS NOT NULL");
  if (since !== undefined) {
    conditions.push("at >= ?");
    values.push(since);
  }
  if (until !== undefined) {
    conditions.push("at < ?");
    values.push(until);
  }
  return { conditions, values };
}

function ofArea(area: AuditArea, field: "tenantId" | "projectId"): string | undefined {
  return typeof area === "object" && field in area ? (area as Readonly<Record<string, string>>)[field] : undefined;
}
