/** The store of the plugin registry in SQLite. */
import type { PackageId } from "../../domain/ids.ts";
import type { Owner } from "../../domain/roles.ts";
import type { PluginKey, PluginRecord, PluginState, PluginStore, PluginSummary } from "../ports/plugins.ts";
import type { Database, Row } from "./database.ts";

const SUMMARY = "owner, name, version, package_id, sha256, bytes, state, created_at, created_by";

export function pluginStore(db: Database): PluginStore {
  const findNow = ({ owner, name, version }: PluginKey): PluginRecord | undefined => {
    const sql = `SELECT * FROM ${tableOf(owner)} WHERE owner = ? AND name = ? AND version = ?`;
    const row = db.getNow(sql, owner, name, version);
    return row && { ...toSummary(row), manifest: row["manifest"] as string };
  };
  return {
    begin(record) {
      return db.addition(() => {
        const known = findNow(record);
        if (known !== undefined) return known;
        db.runNow(
          `INSERT INTO ${tableOf(record.owner)} (${SUMMARY}, manifest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          record.owner,
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
    async store({ owner, packageId }) {
      const changed = await db.run(
        `UPDATE ${tableOf(owner)} SET state = 'stored' WHERE package_id = ? AND state IN ('storing', 'stored')`,
        packageId,
      );
      return changed > 0;
    },
    async markDeleting({ owner, packageId }) {
      await db.run(`UPDATE ${tableOf(owner)} SET state = 'deleting' WHERE package_id = ?`, packageId);
    },
    async remove({ owner, packageId }) {
      await db.run(`DELETE FROM ${tableOf(owner)} WHERE package_id = ? AND state = 'deleting'`, packageId);
    },
    find: (key) => db.read(() => findNow(key)),
    async versionsOf({ owner, name }) {
      const sql = `SELECT ${SUMMARY} FROM ${tableOf(owner)} WHERE owner = ? AND name = ? AND state = 'stored'
        ORDER BY created_at, package_id`;
      return (await db.all(sql, owner, name)).map(toSummary);
    },
    async names(owner) {
      const sql = `SELECT DISTINCT name FROM ${tableOf(owner)} WHERE owner = ? AND state = 'stored' ORDER BY name`;
      return (await db.all(sql, owner)).map((row) => row["name"] as string);
    },
    async listOf(owner, limit) {
      const sql = `SELECT ${SUMMARY} FROM ${tableOf(owner)} WHERE owner = ? LIMIT ?`;
      return (await db.all(sql, owner, limit)).map(toSummary);
    },
    async bytesOf(owner) {
      const sql = `SELECT coalesce(sum(bytes), 0) AS bytes FROM ${tableOf(owner)} WHERE owner = ?`;
      return (await db.get(sql, owner))!["bytes"] as number;
    },
  };
}

/** The key of the older table, that of the installation, has no owner. */
function tableOf(owner: Owner): "plugins" | "owned_plugins" {
  return owner === "installation" ? "plugins" : "owned_plugins";
}

function toSummary(row: Row): PluginSummary {
  return {
    owner: row["owner"] as Owner,
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
