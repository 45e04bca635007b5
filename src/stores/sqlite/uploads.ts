/** The store of uploads in SQLite. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ProjectId, RunId, UploadId } from "../../domain/ids.ts";
import type { UploadRecord, UploadState, UploadStore } from "../ports/uploads.ts";
import type { Database, Row } from "./database.ts";

export function uploadStore(db: Database): UploadStore {
  const findNow = (uploadId: UploadId): UploadRecord | undefined => {
    const row = db.getNow("SELECT * FROM uploads WHERE upload_id = ?", uploadId);
    return row && toRecord(row);
  };
  return {
    async begin({ uploadId, projectId, state, sizeBytes, createdAt, usedAt, expiresAt, writer, ...body }) {
      await db.run(
        `INSERT INTO uploads (upload_id, project_id, state, bytes, created_at, used_at, expires_at, writer, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        uploadId,
        projectId,
        state,
        sizeBytes,
        createdAt,
        usedAt,
        expiresAt,
        writer,
        JSON.stringify(body),
      );
    },
    find: (uploadId) => db.read(() => findNow(uploadId)),
    async takeOver(uploadId, writer, expiresAt) {
      const sql = "UPDATE uploads SET writer = ?, expires_at = ? WHERE upload_id = ? AND state = 'uploading'";
      return (await db.run(sql, writer, expiresAt, uploadId)) > 0;
    },
    async store({ uploadId, writer }, { sizeBytes, ...content }, at, expiresAt) {
      const changed = await db.run(
        `UPDATE uploads SET state = 'stored', bytes = ?, used_at = ?, expires_at = ?, body = json_patch(body, ?)
         WHERE upload_id = ? AND writer = ? AND state = 'uploading'`,
        sizeBytes,
        at,
        expiresAt,
        // A patch would remove a field that is null, and the field is null before.
        JSON.stringify(content.sniffedType === null ? { ...content, sniffedType: undefined } : content),
        uploadId,
        writer,
      );
      return changed > 0;
    },
    async list(projectId, limit, after) {
      const listed = "project_id = ? AND state <> 'deleting'";
      const total = await countListed(db, projectId);
      const behind = after === undefined ? "" : "AND (created_at, upload_id) < (?, ?)";
      const rows = await db.all(
        `SELECT * FROM uploads WHERE ${listed} ${behind} ORDER BY created_at DESC, upload_id DESC LIMIT ?`,
        projectId,
        ...(after === undefined ? [] : [after.at, after.id]),
        limit,
      );
      return { list: rows.map(toRecord), total };
    },
    async amountOf(projectId) {
      const sql = "SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM uploads WHERE project_id = ?";
      const row = (await db.get(sql, projectId))!;
      return { count: row["count"] as number, bytes: row["bytes"] as number };
    },
    use: ({ uploadId, projectId }, { runId, at }, expiresAt) =>
      db.bulk(() => {
        const changed = db.runNow(
          `UPDATE uploads SET used_at = max(used_at, ?), expires_at = max(expires_at, ?)
           WHERE upload_id = ? AND project_id = ? AND state = 'stored'`,
          at,
          expiresAt,
          uploadId,
          projectId,
        );
        if (changed === 0) return false;
        db.runNow("INSERT OR IGNORE INTO upload_uses (upload_id, run_id, at) VALUES (?, ?, ?)", uploadId, runId, at);
        return true;
      }),
    async usesOf(uploadId, limit) {
      const sql = "SELECT run_id, at FROM upload_uses WHERE upload_id = ? ORDER BY at DESC, run_id LIMIT ?";
      const rows = await db.all(sql, uploadId, limit);
      return rows.map((row) => ({ runId: row["run_id"] as RunId, at: row["at"] as number }));
    },
    async dropUse(uploadId, runId) {
      await db.run("DELETE FROM upload_uses WHERE upload_id = ? AND run_id = ?", uploadId, runId);
    },
    async forgetRun(runId) {
      await db.run("DELETE FROM upload_uses WHERE run_id = ?", runId);
    },
    async expired(now, limit) {
      const sql = "SELECT * FROM uploads WHERE expires_at <= ? ORDER BY expires_at, upload_id LIMIT ?";
      return (await db.all(sql, now, limit)).map(toRecord);
    },
    async extend(uploadId, expiresAt) {
      const sql = "UPDATE uploads SET expires_at = ? WHERE upload_id = ? AND state <> 'deleting'";
      await db.run(sql, expiresAt, uploadId);
    },
    async markDeleting(uploadId, usedBy) {
      // `expires_at` 0 makes a deletion that was cut off due at once, so that the next look finds it again.
      const sql = "UPDATE uploads SET state = 'deleting', expires_at = 0 WHERE upload_id = ? AND used_at <= ?";
      return (await db.run(sql, uploadId, usedBy)) > 0;
    },
    remove: (uploadId) =>
      db.bulk(() => {
        const removed = db.runNow("DELETE FROM uploads WHERE upload_id = ? AND state = 'deleting'", uploadId);
        if (removed > 0) db.runNow("DELETE FROM upload_uses WHERE upload_id = ?", uploadId);
      }),
  };
}

/** The spread comes last: members behind it would each cost microseconds, and leave objects that only a full collection frees. */
function toRecord(row: Row): UploadRecord {
  const body = JSON.parse(row["body"] as string) as Pick<
    UploadRecord,
    "name" | "type" | "sha256" | "sniffedType" | "typeMatches" | "createdBy"
  >;
  return {
    uploadId: row["upload_id"] as UploadId,
    projectId: row["project_id"] as UploadRecord["projectId"],
    state: row["state"] as UploadState,
    sizeBytes: row["bytes"] as number,
    createdAt: row["created_at"] as number,
    usedAt: row["used_at"] as number,
    expiresAt: row["expires_at"] as number,
    writer: row["writer"] as string,
    ...body,
  };
}

/** Uploads that are counted in one turn of the event loop; they take less than a millisecond. */
const COUNTED_AT_ONCE = 2_500;

/** How many uploads a project has, without those that are being deleted. Only the index is read. */
async function countListed(db: Database, projectId: ProjectId): Promise<number> {
  const behind = `uploads INDEXED BY uploads_listed
    WHERE project_id = ? AND state <> 'deleting' AND (created_at, upload_id) > (?, ?)`;
  let place: readonly [at: number, id: string] = [-1, ""];
  for (let total = 0; ; total += COUNTED_AT_ONCE) {
    const last = await db.get(
      `SELECT created_at, upload_id FROM ${behind} ORDER BY created_at, upload_id LIMIT 1 OFFSET ${COUNTED_AT_ONCE - 1}`,
      projectId,
      ...place,
    );
    if (last === undefined) {
      const rest = await db.get(`SELECT count(*) AS count FROM ${behind}`, projectId, ...place);
      return total + (rest!["count"] as number);
    }
    place = [last["created_at"] as number, last["upload_id"] as string];
    await nextTurn();
  }
}
