/** The store of the plugin registry in SQLite. */
import type { PackageId } from "../../domain/ids.ts";
import type { PluginRecord, PluginState, PluginStore, PluginSummary } from "../ports/plugins.ts";
import type { Database, Row } from "./database.ts";

const SUMMARY = "name, version, package_id, sha256, bytes, state, created_at, created_by";

export function pluginStore(db: Database): PluginStore {
  const findNow = (name: string, version: string): PluginRecord | undefined => {
    const row = db.getNow("SELECT * FROM plugins WHERE name = ? AND version = ?", name, version);
    return row && { ...toSummary(row), manifest: row["manifest"] as string };
  };
  return {
    begin(record) {
      return db.addition(() => {
        const known = findNow(record.name, record.version);
        if (known !== undefined) return known;
        db.runNow(
          `INSERT INTO plugins (${SUMMARY}, manifest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          record.name,
          record.version,
          record.packageId,
          record.sha256,
          record.sizeBytes,
          record.state,
          record.createdAt,
          record.createdBy,
          record.manifest,
        );
        return record;
      });
    },
    async store(packageId) {
      const changed = await db.run(
        "UPDATE plugins SET state = 'stored' WHERE package_id = ? AND state IN ('storing', 'stored')",
        packageId,
      );
      return changed > 0;
    },
    async markDeleting(packageId) {
      await db.run("UPDATE plugins SET state = 'deleting' WHERE package_id = ?", packageId);
    },
    async remove(packageId) {
      await db.run("DELETE FROM plugins WHERE package_id = ? AND state = 'deleting'", packageId);
    },
    find: (name, version) => db.read(() => findNow(name, version)),
    async versionsOf(name) {
      const sql = `SELECT ${SUMMARY} FROM plugins WHERE name = ? AND state = 'stored' ORDER BY created_at, package_id`;
      return (await db.all(sql, name)).map(toSummary);
    },
    async names() {
      const rows = await db.all("SELECT DISTINCT name FROM plugins WHERE state = 'stored' ORDER BY name");
      return rows.map((row) => row["name"] as string);
    },
  };
}

function toSummary(row: Row): PluginSummary {
  return {
    name: row["name"] as string,
    version: row["version"] as string,
    packageId: row["package_id"] as PackageId,
    sha256: row["sha256"] as string,
    sizeBytes: row["bytes"] as number,
    state: row["state"] as PluginState,
    createdAt: row["created_at"] as number,
    createdBy: row["created_by"] as string,
  };
}
