/** The store of artifact records in SQLite. */
import type { ArtifactId, RunId, StepRunId } from "../../domain/ids.ts";
import type { ArtifactRecord, ArtifactState, ArtifactStore, ArtifactSummary } from "../ports/artifacts.ts";
import type { Database, Row } from "./database.ts";

const SUMMARY = `artifact_id, run_id, step_run_id, token, name, state, bytes, file_count, created_at, stored_at, expires_at`;

export function artifactStore(db: Database): ArtifactStore {
  const findNow = (artifactId: ArtifactId): ArtifactRecord | undefined => {
    const row = db.getNow("SELECT * FROM artifacts WHERE artifact_id = ?", artifactId);
    return row && { ...toSummary(row), files: JSON.parse(row["files"] as string) as ArtifactRecord["files"] };
  };
  return {
    begin(record, runBytes) {
      const { artifactId, runId, stepRunId, token, name, state, sizeBytes, fileCount, files } = record;
      return db.bulk(() => {
        const known = findNow(artifactId);
        if (known !== undefined) return known;
        const sum = db.getNow("SELECT total(bytes) AS bytes FROM artifacts WHERE run_id = ?", runId);
        if ((sum!["bytes"] as number) + sizeBytes > runBytes) return "full";
        db.runNow(
          `INSERT INTO artifacts (${SUMMARY}, files) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          artifactId,
          runId,
          stepRunId,
          token,
          name,
          state,
          sizeBytes,
          fileCount,
          record.createdAt,
          record.storedAt,
          record.expiresAt,
          JSON.stringify(files),
        );
        return record;
      });
    },
    find: (artifactId) => db.read(() => findNow(artifactId)),
    async store(artifactId, storedAt, expiresAt) {
      const changed = await db.run(
        `UPDATE artifacts SET state = 'stored', stored_at = ?, expires_at = ?
         WHERE artifact_id = ? AND state = 'uploading'`,
        storedAt,
        expiresAt,
        artifactId,
      );
      return changed > 0;
    },
    async extend(artifactId, expiresAt) {
      const sql = "UPDATE artifacts SET expires_at = ? WHERE artifact_id = ? AND state = 'uploading'";
      await db.run(sql, expiresAt, artifactId);
    },
    async ofRun(runId) {
      const sql = `SELECT ${SUMMARY} FROM artifacts WHERE run_id = ? ORDER BY created_at, artifact_id`;
      return (await db.all(sql, runId)).map(toSummary);
    },
    async ofSteps(stepRunIds) {
      if (stepRunIds.length === 0) return [];
      const rows = await db.all(
        `SELECT ${SUMMARY} FROM artifacts WHERE step_run_id IN (SELECT value FROM json_each(?))
         ORDER BY created_at, artifact_id`,
        JSON.stringify(stepRunIds),
      );
      return rows.map(toSummary);
    },
    async expired(now, limit) {
      const sql = `SELECT ${SUMMARY} FROM artifacts WHERE expires_at <= ? ORDER BY expires_at, artifact_id LIMIT ?`;
      return (await db.all(sql, now, limit)).map(toSummary);
    },
    async markDeleting(artifactId, expiredBy) {
      // `expires_at` 0 makes a deletion that was cut off due at once, so that the next look finds it again.
      const changed = await db.run(
        `UPDATE artifacts SET state = 'deleting', expires_at = 0 WHERE artifact_id = ? AND expires_at <= ?`,
        artifactId,
        expiredBy,
      );
      return changed > 0;
    },
    async remove(artifactId) {
      await db.run("DELETE FROM artifacts WHERE artifact_id = ? AND state = 'deleting'", artifactId);
    },
  };
}

function toSummary(row: Row): ArtifactSummary {
  return {
    artifactId: row["artifact_id"] as ArtifactId,
    runId: row["run_id"] as RunId,
    stepRunId: row["step_run_id"] as StepRunId,
    token: row["token"] as number,
    name: row["name"] as string,
    state: row["state"] as ArtifactState,
    sizeBytes: row["bytes"] as number,
    fileCount: row["file_count"] as number,
    createdAt: row["created_at"] as number,
    storedAt: row["stored_at"] as number | null,
    expiresAt: row["expires_at"] as number,
  };
}
