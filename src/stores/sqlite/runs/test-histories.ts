/** The store of test histories in SQLite: one row for each test. */
import { ORDER_FIGURES, type TestHistory, type TestHistoryStore } from "../../ports/statistics.ts";
import type { Database, Row } from "../database.ts";

const COLUMNS = { flaky: "flaky", failing: "failing", meanMs: "mean_ms" } as const;
const INSERT = `INSERT INTO test_histories (pipeline_id, test_id, flaky, failing, mean_ms, seen_at, version, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const UPDATE = `UPDATE test_histories SET flaky = ?3, failing = ?4, mean_ms = ?5, seen_at = ?6, version = ?7, body = ?8
  WHERE pipeline_id = ?1 AND test_id = ?2 AND version = ?7 - 1`;

export function testHistoryStore(db: Database): TestHistoryStore {
  return {
    async find(pipelineId, testIds) {
      const rows = await db.all(
        `SELECT body FROM json_each(?2) AS wanted JOIN test_histories ON pipeline_id = ?1 AND test_id = wanted.value`,
        pipelineId,
        JSON.stringify(testIds),
      );
      return rows.map(historyOf);
    },
    put: (histories) =>
      db.transaction(() => {
        let stored = 0;
        for (const history of histories) {
          const { pipelineId, testId, flaky, failing, meanMs, seenAt, version } = history;
          const values = [pipelineId, testId, flaky, failing, meanMs, seenAt, version, JSON.stringify(history)];
          stored += db.runNow(version === 1 ? INSERT : UPDATE, ...values);
        }
        return stored === histories.length;
      }),
    async list(pipelineId, { order, after, limit }) {
      const figure = COLUMNS[ORDER_FIGURES[order]];
      const behind = after === undefined ? "" : `AND (${figure}, test_id) < (?3, ?4)`;
      const rows = await db.all(
        `SELECT body FROM test_histories WHERE pipeline_id = ?1 AND ${figure} > 0 ${behind}
          ORDER BY ${figure} DESC, test_id DESC LIMIT ?2`,
        pipelineId,
        limit,
        ...(after === undefined ? [] : [after.at, after.id]),
      );
      return rows.map(historyOf);
    },
    async trim(pipelineId, most) {
      await db.run(
        `DELETE FROM test_histories WHERE pipeline_id = ?1 AND test_id IN (
           SELECT test_id FROM test_histories WHERE pipeline_id = ?1 ORDER BY seen_at DESC, test_id DESC LIMIT -1 OFFSET ?2)`,
        pipelineId,
        most,
      );
    },
    forget: (before, limit) =>
      db.run(
        "DELETE FROM test_histories WHERE rowid IN (SELECT rowid FROM test_histories WHERE seen_at < ? LIMIT ?)",
        before,
        limit,
      ),
    async drop(pipelineId) {
      await db.freeing(() => db.runNow("DELETE FROM test_histories WHERE pipeline_id = ?", pipelineId));
    },
  };
}

function historyOf(row: Row): TestHistory {
  return JSON.parse(row["body"] as string) as TestHistory;
}
