/** The stores of deletions in SQLite. Deletion frees space, so a full store accepts what they write. */
import { asId, type PipelineId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import type { AreaDeletion, AreaDeletionStore, PipelineDeletion, PipelineDeletionStore } from "../ports/deletions.ts";
import { ownerOf } from "../ports/documents.ts";
import { bodiesOf } from "./bodies.ts";
import type { Database, Row } from "./database.ts";

export function pipelineDeletionStore(db: Database): PipelineDeletionStore {
  return {
    async note({ pipelineId, at, by, decided }) {
      await db.freeing(() =>
        db.runNow(
          `INSERT INTO pipeline_deletions (pipeline_id, at, by_user, decided) VALUES (?, ?, ?, ?)
           ON CONFLICT (pipeline_id) DO UPDATE SET decided = max(decided, excluded.decided)`,
          pipelineId,
          at,
          by,
          Number(decided),
        ),
      );
    },
    async decide(pipelineId) {
      const decided = await db.freeing(() =>
        db.runNow("UPDATE pipeline_deletions SET decided = 1 WHERE pipeline_id = ?", pipelineId),
      );
      return decided > 0;
    },
    withdraw: (pipelineId) =>
      db.freeing(() => {
        db.runNow("DELETE FROM pipeline_deletions WHERE pipeline_id = ? AND decided = 0", pipelineId);
        const left = db.getNow("SELECT 1 AS decided FROM pipeline_deletions WHERE pipeline_id = ?", pipelineId);
        return left === undefined;
      }),
    async find(pipelineId) {
      const row = await db.get("SELECT * FROM pipeline_deletions WHERE pipeline_id = ?", pipelineId);
      return row && toDeletion(row);
    },
    async page(after, limit) {
      const rows = await db.all(
        "SELECT * FROM pipeline_deletions WHERE pipeline_id > ? ORDER BY pipeline_id LIMIT ?",
        after,
        limit,
      );
      return rows.map(toDeletion);
    },
    async drop(pipelineId) {
      await db.freeing(() => db.runNow("DELETE FROM pipeline_deletions WHERE pipeline_id = ?", pipelineId));
    },
  };
}

function toDeletion(row: Row): PipelineDeletion {
  return {
    pipelineId: asId<PipelineId>(row["pipeline_id"] as string),
    at: row["at"] as number,
    by: row["by_user"] as string,
    decided: row["decided"] === 1,
  };
}

export function areaDeletionStore(db: Database): AreaDeletionStore {
  const OF_AREA = "WHERE owner = ?";
  return {
    async note(deletion) {
      const sql = "INSERT INTO area_deletions VALUES (?, ?) ON CONFLICT DO NOTHING";
      await db.freeing(() => db.runNow(sql, ownerOf(deletion.area), JSON.stringify(deletion)));
    },
    async page(after, limit) {
      const sql = "SELECT body FROM area_deletions WHERE owner > ? ORDER BY owner LIMIT ?";
      return bodiesOf<AreaDeletion>(await db.all(sql, after, limit));
    },
    async setEmptied(area: Area, emptiedAt: number | null) {
      const sql = `UPDATE area_deletions SET body = json_set(body, '$.emptiedAt', ?) ${OF_AREA}`;
      await db.freeing(() => db.runNow(sql, emptiedAt, ownerOf(area)));
    },
    async drop(area) {
      await db.freeing(() => db.runNow(`DELETE FROM area_deletions ${OF_AREA}`, ownerOf(area)));
    },
  };
}
