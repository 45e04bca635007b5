/** The store of cache entries in SQLite. */
import type { CacheId, ProjectId, RunId } from "../../domain/ids.ts";
import type { CacheRecord, CacheState, CacheStore } from "../ports/caches.ts";
import type { Database, Row } from "./database.ts";
import { readPage } from "./pages.ts";

const STORED = "project_id = ? AND state = 'stored' AND substr(key, 1, length(?)) = ?";
const UPLOAD = "cache_id = ? AND blob_id = ?";

export function cacheStore(db: Database): CacheStore {
  const findNow = (cacheId: CacheId): CacheRecord | undefined => {
    const row = db.getNow("SELECT * FROM caches WHERE cache_id = ?", cacheId);
    return row && toRecord(row);
  };
  return {
    begin: (record) =>
      db.bulk(() => {
        const known = findNow(record.cacheId);
        if (known !== undefined) return known;
        db.runNow(
          `INSERT INTO caches (cache_id, project_id, key, version, run_id, blob_id, state, bytes, sha256, created_at, used_at,
             expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          record.cacheId,
          record.projectId,
          record.key,
          record.version,
          record.runId,
          record.blobId,
          record.state,
          record.sizeBytes,
          record.sha256,
          record.createdAt,
          record.usedAt,
          record.expiresAt,
        );
        return record;
      }),
    async store({ cacheId, blobId }, at, expiresAt) {
      const changed = await db.run(
        `UPDATE caches SET state = 'stored', created_at = ?, used_at = ?, expires_at = ?
         WHERE ${UPLOAD} AND state = 'uploading'`,
        at,
        at,
        expiresAt,
        cacheId,
        blobId,
      );
      return changed > 0;
    },
    find: (cacheId) => db.read(() => findNow(cacheId)),
    async newest({ projectId, version }, prefix, now) {
      const row = await db.get(
        `SELECT * FROM caches WHERE ${STORED} AND version = ? AND expires_at > ?
         ORDER BY created_at DESC, cache_id LIMIT 1`,
        projectId,
        prefix,
        prefix,
        version,
        now,
      );
      return row && toRecord(row);
    },
    async touch({ cacheId, blobId }, usedAt, expiresAt) {
      const sql = `UPDATE caches SET used_at = ?, expires_at = ? WHERE ${UPLOAD} AND state = 'stored'`;
      await db.run(sql, usedAt, expiresAt, cacheId, blobId);
    },
    async list(projectId, prefix, request) {
      const values = [projectId, prefix, prefix];
      const entries = { table: "caches", columns: "*", where: STORED, values, order: ["used_at DESC", "cache_id ASC"] };
      const { rows, total } = await readPage(db, entries, { ...request, descending: true });
      return { list: rows.map(toRecord), total };
    },
    async expired(now, limit) {
      const sql = "SELECT * FROM caches WHERE expires_at <= ? ORDER BY expires_at, cache_id LIMIT ?";
      return (await db.all(sql, now, limit)).map(toRecord);
    },
    async aboveProjectBytes(bytes, limit) {
      const rows = await db.all(
        `SELECT * FROM (
           SELECT *, sum(bytes) OVER (PARTITION BY project_id ORDER BY used_at DESC, cache_id) AS through
           FROM caches WHERE state = 'stored'
         ) WHERE through > ? ORDER BY used_at, cache_id DESC LIMIT ?`,
        bytes,
        limit,
      );
      return rows.map(toRecord);
    },
    async markDeleting({ cacheId, blobId }, usedBy) {
      // `expires_at` 0 makes a deletion that was cut off due at once, so that the next look finds it again.
      const changed = await db.run(
        `UPDATE caches SET state = 'deleting', expires_at = 0 WHERE ${UPLOAD} AND used_at <= ?`,
        cacheId,
        blobId,
        usedBy,
      );
      return changed > 0;
    },
    async remove({ cacheId, blobId }) {
      await db.run(`DELETE FROM caches WHERE ${UPLOAD} AND state = 'deleting'`, cacheId, blobId);
    },
  };
}

function toRecord(row: Row): CacheRecord {
  return {
    cacheId: row["cache_id"] as CacheId,
    projectId: row["project_id"] as ProjectId,
    key: row["key"] as string,
    version: row["version"] as string,
    runId: row["run_id"] as RunId,
    blobId: row["blob_id"] as string,
    state: row["state"] as CacheState,
    sizeBytes: row["bytes"] as number,
    sha256: row["sha256"] as string,
    createdAt: row["created_at"] as number,
    usedAt: row["used_at"] as number,
    expiresAt: row["expires_at"] as number,
  };
}
