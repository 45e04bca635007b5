/** The audit log in MongoDB. */
import type { Document, Filter } from "mongodb";
import type { SystemEventDraft } from "../../domain/system-events.ts";
import type { AuditEntry, AuditFilter, AuditStore } from "../ports/audit.ts";
import { bodiesOf } from "./bodies.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";
import { appendEvent } from "./system-events.ts";

export function auditStore(connection: Connection): AuditStore {
  const entries = connection.collection("audit");
  /** The event is part of the entry until it is in its log. A repeat finds it there. */
  const settle = async (_id: string, event: SystemEventDraft): Promise<void> => {
    await appendEvent(connection, event);
    await entries.updateOne({ _id }, { $unset: { owed: 1, owedAt: 1 } });
  };
  return {
    async append(entry, event = null) {
      const { auditId, at, tenantId, projectId, actor, operation, object, outcome } = entry;
      const filtered = { tenantId, projectId, actorId: actor.id, operation, objectId: object?.id ?? null, outcome };
      const owing = event === null ? {} : { owed: event, owedAt: event.timeMs };
      await insertIfAbsent(entries, { _id: auditId, at, ...filtered, body: entry, ...owing });
      if (event !== null) await settle(auditId, event);
    },
    // A document of another collection cannot be part of the change.
    appendWith: async (_entry, write) => ({ result: await write(), stored: false }),
    async settleEvents(limit) {
      const owing = await entries
        .find({ owedAt: { $gt: 0 } }, { projection: { owed: 1 } })
        .sort({ owedAt: 1 })
        .limit(limit)
        .toArray();
      for (const { _id, owed } of owing) await settle(_id, owed as SystemEventDraft);
      return owing.length;
    },
    async page(filter, { after, limit, descending }) {
      const order = descending ? -1 : 1;
      const { condition, index } = conditionOf(filter);
      const behind = after === undefined ? {} : behindPlace(after, descending);
      const found = entries.find({ $and: [condition, behind] } as Filter<Document> as never).hint(index);
      return bodiesOf<AuditEntry>(await found.sort({ at: order, _id: order }).limit(limit).toArray());
    },
    async forget(before, limit) {
      const found = await entries
        .find({ at: { $lt: before } }, { projection: { _id: 1 } })
        .sort({ at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      return (await entries.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } })).deletedCount;
    },
  };
}

/** The condition of a filter, and the index of the field that is likely to leave the fewest entries. */
function conditionOf(filter: AuditFilter): { readonly condition: Document; readonly index: Record<string, 1> } {
  const { area, since, until, objectId, actorId, projectId, outcome, operation } = filter;
  const ofArea = typeof area === "object" ? area : {};
  const equal = Object.entries({ objectId, actorId, projectId, ...projectOf(ofArea), outcome, operation, ...ofArea });
  const given = equal.filter(([, value]) => value !== undefined);
  const [first] = given;
  const time = { ...(since !== undefined && { $gte: since }), ...(until !== undefined && { $lt: until }) };
  const parts: Document[] = given.map(([field, value]) => ({ [field]: value }));
  // The project of the filter and that of the area may differ: then nothing is found.
  if (projectId !== undefined && "projectId" in ofArea) parts.push({ projectId });
  if (area === "tenants") parts.push({ tenantId: { $ne: null } });
  if (Object.keys(time).length > 0) parts.push({ at: time });
  return {
    condition: parts.length === 0 ? {} : { $and: parts },
    index: { ...(first && { [first[0]]: 1 as const }), at: 1, _id: 1 },
  };
}

function projectOf(area: object): object {
  return "projectId" in area ? { projectId: area.projectId } : {};
}

function behindPlace({ at, id }: { readonly at: number; readonly id: string }, descending: boolean): Document {
  const [beyond, upTo] = descending ? (["$lt", "$lte"] as const) : (["$gt", "$gte"] as const);
  return { at: { [upTo]: at }, $or: [{ at: { [beyond]: at } }, { at, _id: { [beyond]: id } }] };
}
