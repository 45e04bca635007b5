/** The store of notes in SQLite. */
import type { RunId, StepRunId } from "../../../domain/ids.ts";
import type { NoteKey, NoteKind, NoteStore } from "../../ports/outputs.ts";
import type { Database, Row } from "../database.ts";

const KEY = "run_id, kind, step_run_id, token, part";

export function noteStore(db: Database): NoteStore {
  return {
    put({ runId, kind, stepRunId, token, part, body }, runBytes) {
      const key = [runId, kind, stepRunId, token, part] as const;
      const bytes = Buffer.byteLength(body);
      return db.transaction(() => {
        const known = db.getNow(`SELECT 1 FROM step_notes WHERE (${KEY}) = (?, ?, ?, ?, ?)`, ...key);
        if (known !== undefined) return "stored";
        const sum = db.getNow(
          "SELECT total(bytes) AS bytes FROM step_notes WHERE run_id = ? AND kind = ?",
          runId,
          kind,
        );
        if ((sum!["bytes"] as number) + bytes > runBytes) return "full";
        db.runNow(`INSERT INTO step_notes (${KEY}, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?)`, ...key, bytes, body);
        return "stored";
      });
    },
    async placesOf(runId, kind) {
      const rows = await db.all(`SELECT ${KEY}, bytes FROM step_notes WHERE run_id = ? AND kind = ?`, runId, kind);
      return rows.map((row) => ({ ...keyOf(row), bytes: row["bytes"] as number }));
    },
    async find(keys) {
      if (keys.length === 0) return [];
      // One JSON value for all keys, because the number of values of a statement is bounded.
      const rows = await db.all(
        `SELECT step_notes.* FROM json_each(?) AS wanted JOIN step_notes
           ON run_id = wanted.value ->> 0 AND kind = wanted.value ->> 1 AND step_run_id = wanted.value ->> 2
           AND token = wanted.value ->> 3 AND part = wanted.value ->> 4`,
        JSON.stringify(keys.map(({ runId, kind, stepRunId, token, part }) => [runId, kind, stepRunId, token, part])),
      );
      return rows.map((row) => ({ ...keyOf(row), body: row["body"] as string }));
    },
  };
}

function keyOf(row: Row): NoteKey {
  return {
    runId: row["run_id"] as RunId,
    kind: row["kind"] as NoteKind,
    stepRunId: row["step_run_id"] as StepRunId,
    token: row["token"] as number,
    part: row["part"] as number,
  };
}
