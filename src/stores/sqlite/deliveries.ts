/** The store of deliveries in SQLite. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DeliveryId, ProjectId, RunId } from "../../domain/ids.ts";
import {
  ABOVE_NOTIFICATION_LANES,
  type Delivery,
  type DeliveryState,
  type DeliveryStore,
  NOTIFICATION_LANES,
  STATUS_LANES,
  type UntoldRun,
} from "../ports/deliveries.ts";
import type { ListKey } from "../ports/pages.ts";
import type { Database, Row } from "./database.ts";
import { insertRows, type RowInsert } from "./insert-rows.ts";

const MADE_AT_ONCE = 25;

const INSERT: RowInsert = { insert: "INSERT INTO deliveries", conflict: "ON CONFLICT DO NOTHING" };

/** Each step of the recursion finds the next lane in the index, however many deliveries the lane before it owes. */
const LANES = `
  WITH RECURSIVE lanes (lane) AS (
    SELECT min(lane) FROM deliveries WHERE state = 'owed'
    UNION ALL
    SELECT (SELECT min(lane) FROM deliveries WHERE state = 'owed' AND lane > lanes.lane) FROM lanes WHERE lane IS NOT NULL
  ) SELECT lane FROM lanes WHERE lane IS NOT NULL
    AND EXISTS (SELECT 1 FROM deliveries WHERE state = 'owed' AND deliveries.lane = lanes.lane AND due_at <= ?)`;

export function deliveryStore(db: Database): DeliveryStore {
  return {
    async untold(projectIds, limit) {
      const rows = await db.all(
        `SELECT root_id, project_id, told, event_number, settled, ended_at FROM aggregates
         WHERE told < event_number AND project_id IN (SELECT value FROM json_each(?)) LIMIT ?`,
        JSON.stringify(projectIds),
        limit,
      );
      return rows.map((row): UntoldRun => ({
        runId: row["root_id"] as RunId,
        projectId: row["project_id"] as ProjectId,
        told: row["told"] as number,
        eventNumber: row["event_number"] as number,
        settled: row["settled"] === 1,
        endedAt: row["ended_at"] as number | null,
      }));
    },
    async tell(deliveries, runs) {
      await db.transaction(() => {
        insertRows(db, INSERT, deliveries.map(toValues));
        for (const { runId, told } of runs) {
          db.runNow("UPDATE aggregates SET told = max(told, ?) WHERE root_id = ?", told, runId);
        }
      });
    },
    lanes: async (now) => (await db.all(LANES, now)).map((row) => row["lane"] as string),
    async due(lane, now, limit) {
      const rows = await db.all(
        "SELECT * FROM deliveries WHERE state = 'owed' AND lane = ? AND due_at <= ? ORDER BY due_at, run_id, number LIMIT ?",
        lane,
        now,
        limit,
      );
      return rows.map(toDelivery);
    },
    async firstOwed(lane, runId) {
      const sql = "SELECT * FROM deliveries WHERE state = 'owed' AND lane = ? AND run_id = ? ORDER BY number LIMIT 1";
      const row = await db.get(sql, lane, runId);
      return row && toDelivery(row);
    },
    async reschedule(lane, runId, dueAt) {
      await db.run(
        "UPDATE deliveries SET due_at = ? WHERE state = 'owed' AND lane = ? AND run_id = ?",
        dueAt,
        lane,
        runId,
      );
    },
    async record({ deliveryId, attempts }, { state, dueAt, ...outcome }) {
      const changed = await db.run(
        `UPDATE deliveries SET state = ?, due_at = ?, attempts = ?, body = json_patch(body, ?)
         WHERE delivery_id = ? AND state = 'owed' AND attempts = ?`,
        state,
        dueAt,
        outcome.attempts,
        JSON.stringify({ failures: outcome.failures, tries: outcome.tries.map((one) => JSON.stringify(one)) }),
        deliveryId,
        attempts,
      );
      return changed > 0;
    },
    async owe(deliveryId, now) {
      const changed = await db.run(
        `UPDATE deliveries SET state = 'owed', due_at = ?, body = json_patch(body, ?)
         WHERE delivery_id = ? AND state <> 'owed'`,
        now,
        JSON.stringify({ owedAt: now, failures: 0 }),
        deliveryId,
      );
      return changed > 0;
    },
    async find(deliveryId) {
      const row = await db.get("SELECT * FROM deliveries WHERE delivery_id = ?", deliveryId);
      return row && toDelivery(row);
    },
    list(lane, { state, runId }, limit, after) {
      const of = runId === undefined ? (state === undefined ? "by_time" : "by_state") : "by_run";
      return newest(
        db,
        `deliveries_${of}`,
        { "lane = ?": lane, "run_id = ?": runId, "state = ?": state },
        limit,
        after,
      );
    },
    listNotifications(of, { state }, limit, after) {
      const ofRun = "runId" in of;
      const index = ofRun ? "of_run" : state === undefined ? "of_project" : "by_state";
      const conditions = {
        ...(ofRun ? { "run_id = ?": of.runId } : { "project_id = ?": of.projectId }),
        "state = ?": state,
        // These are part of the text, so that the partial indexes can be used.
        [`lane >= '${NOTIFICATION_LANES}' AND lane < '${ABOVE_NOTIFICATION_LANES}'`]: null,
      };
      return newest(db, `notifications_${index}`, conditions, limit, after);
    },
    listOfRun(runId, lanes, { state }, limit, after) {
      const conditions = {
        "run_id = ?": runId,
        "lane >= ?": lanes,
        "lane < ?": above(lanes),
        "state = ?": state,
        // The outer bounds are part of the text, so that the partial index can be used.
        [`lane >= '${STATUS_LANES}' AND lane < '${above(STATUS_LANES)}'`]: null,
      };
      return newest(db, "statuses_of_run", conditions, limit, after);
    },
    prune: (now, limit) =>
      db.freeing(() =>
        db.runNow(
          `DELETE FROM deliveries WHERE delivery_id IN (
             SELECT delivery_id FROM deliveries WHERE state <> 'owed' AND due_at <= ? LIMIT ?)`,
          now,
          limit,
        ),
      ),
    drop: (of, limit) =>
      db.freeing(() => {
        const [column, value] =
          "lane" in of
            ? ["lane", of.lane]
            : "projectId" in of
              ? ["project_id", of.projectId]
              : ["delivery_id", of.deliveryId];
        const some = `SELECT delivery_id FROM deliveries WHERE ${column} = ? LIMIT ?`;
        return db.runNow(`DELETE FROM deliveries WHERE delivery_id IN (${some})`, value, limit);
      }),
  };
}

/**
 * The newest deliveries that meet all conditions, in the order of the index. A condition has one value; undefined leaves it
 * out, and null says that its text has all values.
 */
async function newest(
  db: Database,
  index: string,
  conditions: Readonly<Record<string, string | null | undefined>>,
  limit: number,
  after: ListKey | undefined,
): Promise<readonly Delivery[]> {
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  const texts = given.map(([text]) => text);
  const rows = await db.all(
    `SELECT * FROM deliveries INDEXED BY ${index}
     WHERE ${[...texts, ...(after === undefined ? [] : ["(created_at, delivery_id) < (?, ?)"])].join(" AND ")}
     ORDER BY created_at DESC, delivery_id DESC LIMIT ?`,
    ...given.flatMap(([, value]) => value ?? []),
    ...(after === undefined ? [] : [after.at, after.id]),
    limit,
  );
  // A delivery has some kilobytes of JSON, so that a page of them is made in several turns of the event loop.
  const deliveries: Delivery[] = [];
  for (const [at, row] of rows.entries()) {
    if (at > 0 && at % MADE_AT_ONCE === 0) await nextTurn();
    deliveries.push(toDelivery(row));
  }
  return deliveries;
}

/** Above every text that begins with this one, which ends in `/`: `0` is the character behind it. */
function above(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

type Body = Pick<Delivery, "tenantId" | "type" | "body" | "owedAt" | "failures"> & {
  /** Each as JSON of its own: a patch would remove a field that is null. */
  readonly tries: readonly string[];
};

function toValues(delivery: Delivery): readonly (string | number)[] {
  const { deliveryId, lane, projectId, runId, number, state, createdAt, dueAt, attempts, ...rest } = delivery;
  const body: Body = { ...rest, tries: rest.tries.map((one) => JSON.stringify(one)) };
  return [deliveryId, lane, projectId, runId, number, state, createdAt, dueAt, attempts, JSON.stringify(body)];
}

/** The spread comes last: members behind it would each cost microseconds, and leave objects that only a full collection frees. */
function toDelivery(row: Row): Delivery {
  const { tries, ...body } = JSON.parse(row["body"] as string) as Body;
  return {
    tries: tries.map((one) => JSON.parse(one) as Delivery["tries"][number]),
    deliveryId: row["delivery_id"] as DeliveryId,
    lane: row["lane"] as string,
    projectId: row["project_id"] as ProjectId,
    runId: row["run_id"] as RunId,
    number: row["number"] as number,
    state: row["state"] as DeliveryState,
    createdAt: row["created_at"] as number,
    dueAt: row["due_at"] as number,
    attempts: row["attempts"] as number,
    ...body,
  };
}
