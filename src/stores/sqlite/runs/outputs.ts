/** The store of step outputs in SQLite. */
import type { RunId, StepRunId } from "../../../domain/ids.ts";
import { bytesOf } from "../../../domain/outputs.ts";
import type { OutputStore, StepOutputs } from "../../ports/outputs.ts";
import type { Database, Row } from "../database.ts";

export function outputStore(db: Database): OutputStore {
  return {
    put({ runId, stepRunId, token, values }, runBytes) {
      const bytes = bytesOf(values);
      return db.transaction(() => {
        const known = db.getNow("SELECT 1 FROM step_outputs WHERE step_run_id = ? AND token = ?", stepRunId, token);
        if (known !== undefined) return "stored";
        const sum = db.getNow("SELECT total(bytes) AS bytes FROM step_outputs WHERE run_id = ?", runId);
        if ((sum!["bytes"] as number) + bytes > runBytes) return "full";
        db.runNow(
          "INSERT INTO step_outputs (step_run_id, token, run_id, bytes, body) VALUES (?, ?, ?, ?, ?)",
          stepRunId,
          token,
          runId,
          bytes,
          JSON.stringify(values),
        );
        return "stored";
      });
    },
    async find(keys) {
      if (keys.length === 0) return [];
      // One JSON value for all keys, because the number of values of a statement is bounded.
      const rows = await db.all(
        `SELECT * FROM step_outputs
         WHERE (step_run_id, token) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
        JSON.stringify(keys.map(({ stepRunId, token }) => [stepRunId, token])),
      );
      return rows.map(toOutputs);
    },
  };
}

function toOutputs(row: Row): StepOutputs {
  return {
    runId: row["run_id"] as RunId,
    stepRunId: row["step_run_id"] as StepRunId,
    token: row["token"] as number,
    values: JSON.parse(row["body"] as string) as StepOutputs["values"],
  };
}
