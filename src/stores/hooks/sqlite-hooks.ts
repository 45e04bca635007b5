/** The store of inbound hooks and their deliveries in SQLite. */
import type { DeliveryId, HookId, ProjectId } from "../../domain/ids.ts";
import type { Hook, HookStore, ReceivedDelivery, ReceivedState } from "./hook-store.ts";
import type { Database, Row } from "../sqlite/database.ts";

const COLUMNS = "delivery_id, hook_id, project_id, sender_id, state, received_at, due_at, version, record";

/** Each step of the recursion finds the next hook in the index, however many deliveries the hook before it owes. */
const OWING = `
  WITH RECURSIVE owing (hook_id) AS (
    SELECT min(hook_id) FROM hook_deliveries WHERE state = 'owed'
    UNION ALL
    SELECT (SELECT min(hook_id) FROM hook_deliveries WHERE state = 'owed' AND hook_id > owing.hook_id)
      FROM owing WHERE hook_id IS NOT NULL
  ) SELECT hook_id FROM owing WHERE hook_id IS NOT NULL`;

export function hookStore(db: Database): HookStore {
  const otherOfName = ({ hookId, projectId, name }: Hook): boolean =>
    db.getNow("SELECT 1 FROM hooks WHERE project_id = ? AND name = ? AND hook_id <> ?", projectId, name, hookId) !==
    undefined;
  return {
    create: (hook) =>
      db.transaction(() => {
        if (otherOfName(hook)) return "nameTaken";
        const { hookId, projectId, name, version, ...body } = hook;
        const sql = "INSERT INTO hooks (hook_id, project_id, name, version, body) VALUES (?, ?, ?, ?, ?)";
        db.runNow(`${sql} ON CONFLICT (hook_id) DO NOTHING`, hookId, projectId, name, version, JSON.stringify(body));
        return "created";
      }),
    async find(hookId) {
      const row = await db.get("SELECT * FROM hooks WHERE hook_id = ?", hookId);
      return row && toHook(row);
    },
    async list(projectId) {
      const rows = await db.all("SELECT * FROM hooks WHERE project_id = ? ORDER BY hook_id", projectId);
      return rows.map(toHook);
    },
    save: (hook) =>
      db.transaction(() => {
        if (otherOfName(hook)) return "nameTaken";
        const { hookId, projectId: _, name, version, ...body } = hook;
        const sql = "UPDATE hooks SET name = ?, version = ?, body = ? WHERE hook_id = ? AND version = ?";
        const changed = db.runNow(sql, name, version, JSON.stringify(body), hookId, version - 1);
        return changed > 0 ? "saved" : "moved";
      }),
    async delete(hookId) {
      return (await db.run("DELETE FROM hooks WHERE hook_id = ?", hookId)) > 0;
    },
    async deleteOfProject(projectId) {
      await db.run("DELETE FROM hooks WHERE project_id = ?", projectId);
    },

    take: (delivery, body) =>
      db.bulk(() => {
        const { deliveryId, hookId, projectId, senderId, state, receivedAt, dueAt, version, ...record } = delivery;
        const known = db.getNow(
          `SELECT ${COLUMNS} FROM hook_deliveries WHERE hook_id = ? AND sender_id = ?`,
          hookId,
          senderId,
        );
        if (known !== undefined) return toDelivery(known);
        db.runNow(
          `INSERT INTO hook_deliveries (${COLUMNS}, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          deliveryId,
          hookId,
          projectId,
          senderId,
          state,
          receivedAt,
          dueAt,
          version,
          JSON.stringify(record),
          body,
        );
        return delivery;
      }),
    async findDelivery(deliveryId) {
      const row = await db.get(`SELECT ${COLUMNS} FROM hook_deliveries WHERE delivery_id = ?`, deliveryId);
      return row && toDelivery(row);
    },
    async bodyOf(deliveryId) {
      const row = await db.get("SELECT body FROM hook_deliveries WHERE delivery_id = ?", deliveryId);
      return (row?.["body"] ?? null) as string | null;
    },
    async saveDelivery(delivery) {
      const { deliveryId, hookId: _h, projectId: _p, senderId: _s, state, receivedAt: _r, dueAt, ...rest } = delivery;
      const { version, ...record } = rest;
      const changed = await db.run(
        "UPDATE hook_deliveries SET state = ?, due_at = ?, version = ?, record = ? WHERE delivery_id = ? AND version = ?",
        state,
        dueAt,
        version,
        JSON.stringify(record),
        deliveryId,
        version - 1,
      );
      return changed > 0;
    },
    owing: async () => (await db.all(OWING)).map((row) => row["hook_id"] as HookId),
    async due(hookId, now, limit) {
      const rows = await db.all(
        `SELECT ${COLUMNS} FROM hook_deliveries WHERE state = 'owed' AND hook_id = ? AND due_at <= ?
         ORDER BY received_at, delivery_id LIMIT ?`,
        hookId,
        now,
        limit,
      );
      return rows.map(toDelivery);
    },
    async listDeliveries(hookId, { state }, limit, after) {
      const rows = await db.all(
        `SELECT ${COLUMNS} FROM hook_deliveries INDEXED BY hook_deliveries_by_${state === undefined ? "time" : "state"}
         WHERE hook_id = ? ${state === undefined ? "" : "AND state = ?"}
           ${after === undefined ? "" : "AND (received_at, delivery_id) < (?, ?)"}
         ORDER BY received_at DESC, delivery_id DESC LIMIT ?`,
        hookId,
        ...(state === undefined ? [] : [state]),
        ...(after === undefined ? [] : [after.at, after.id]),
        limit,
      );
      return rows.map(toDelivery);
    },
    async expired(now, limit) {
      const sql = `SELECT ${COLUMNS} FROM hook_deliveries WHERE state <> 'owed' AND due_at <= ? ORDER BY due_at LIMIT ?`;
      return (await db.all(sql, now, limit)).map(toDelivery);
    },
    async someDeliveries(of, limit) {
      const [column, value] = "hookId" in of ? ["hook_id", of.hookId] : ["project_id", of.projectId];
      const sql = `SELECT ${COLUMNS} FROM hook_deliveries WHERE ${column} = ? LIMIT ?`;
      return (await db.all(sql, value, limit)).map(toDelivery);
    },
    async removeDelivery(deliveryId) {
      await db.freeing(() => db.runNow("DELETE FROM hook_deliveries WHERE delivery_id = ?", deliveryId));
    },
  };
}

function toHook(row: Row): Hook {
  return {
    ...(JSON.parse(row["body"] as string) as Omit<Hook, "hookId" | "projectId" | "name" | "version">),
    hookId: row["hook_id"] as HookId,
    projectId: row["project_id"] as ProjectId,
    name: row["name"] as string,
    version: row["version"] as number,
  };
}

type Recorded = Omit<
  ReceivedDelivery,
  "deliveryId" | "hookId" | "projectId" | "senderId" | "state" | "receivedAt" | "dueAt" | "version"
>;

/** The spread comes last: members behind it would each cost microseconds, and leave objects that only a full collection frees. */
function toDelivery(row: Row): ReceivedDelivery {
  return {
    deliveryId: row["delivery_id"] as DeliveryId,
    hookId: row["hook_id"] as HookId,
    projectId: row["project_id"] as ProjectId,
    senderId: row["sender_id"] as string,
    state: row["state"] as ReceivedState,
    receivedAt: row["received_at"] as number,
    dueAt: row["due_at"] as number,
    version: row["version"] as number,
    ...(JSON.parse(row["record"] as string) as Recorded),
  };
}
