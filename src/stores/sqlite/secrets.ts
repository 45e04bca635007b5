/** The store of sealed secrets in SQLite. */
import type { PipelineId, ProjectId } from "../../domain/ids.ts";
import type { SealedSecret, SecretKey, SecretScope, SecretStore } from "../ports/secrets.ts";
import type { Database, Row } from "./database.ts";
import { readPage } from "./pages.ts";

const OF_SCOPE = "project_id = ? AND pipeline_id = ?";
const OF_KEY = `${OF_SCOPE} AND name = ?`;

export function secretStore(db: Database): SecretStore {
  return {
    async create({ name, keyId, sealed, version, createdAt, createdBy, updatedAt, updatedBy, ...scope }) {
      const insert = "INSERT INTO secrets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
      const values = [...valuesOf(scope), name, version, keyId, sealed, createdAt, createdBy, updatedAt, updatedBy];
      const inserted = await db.addition(() => db.runNow(insert, ...values));
      return inserted > 0 ? "created" : "exists";
    },
    replace: (key, { keyId, sealed, updatedAt, updatedBy }, expected) =>
      db.transaction(() => {
        const count = db.runNow(
          `UPDATE secrets SET version = version + 1, key_id = ?, sealed = ?, updated_at = ?, updated_by = ?
           WHERE ${OF_KEY} AND version = coalesce(?, version)`,
          keyId,
          sealed,
          updatedAt,
          updatedBy,
          ...valuesOf(key),
          key.name,
          expected ?? null,
        );
        if (count === 0) return undefined;
        const row = db.getNow(`SELECT * FROM secrets WHERE ${OF_KEY}`, ...valuesOf(key), key.name);
        return row && toSecret(row);
      }),
    async get(key) {
      const row = await db.get(`SELECT * FROM secrets WHERE ${OF_KEY}`, ...valuesOf(key), key.name);
      return row && toSecret(row);
    },
    async find({ projectId, pipelineId }, names) {
      const rows = await db.all(
        `SELECT * FROM secrets WHERE project_id = ? AND pipeline_id IN ('', ?)
         AND name IN (SELECT value FROM json_each(?))`,
        projectId,
        pipelineId,
        JSON.stringify(names),
      );
      return rows.map(toSecret);
    },
    async list(scope, request) {
      const secrets = { table: "secrets", columns: "*", where: OF_SCOPE, values: valuesOf(scope), order: ["name"] };
      const ascending = { ...request, descending: false };
      const { rows, total } = await readPage(db, secrets, ascending, { placeOf: ({ id }) => [id] });
      return { list: rows.map(toSecret), total };
    },
    delete: async (key) => (await db.run(`DELETE FROM secrets WHERE ${OF_KEY}`, ...valuesOf(key), key.name)) > 0,
    async deleteOfPipeline(pipelineId) {
      await db.run("DELETE FROM secrets WHERE pipeline_id = ?", pipelineId);
    },
    async deleteOfProject(projectId) {
      await db.run("DELETE FROM secrets WHERE project_id = ?", projectId);
    },
    async pageNotUnder(keyId, after, limit) {
      const rows = await db.all(
        `SELECT * FROM secrets WHERE key_id <> ? AND (project_id, pipeline_id, name) > (?, ?, ?)
         ORDER BY project_id, pipeline_id, name LIMIT ?`,
        keyId,
        ...(after === null ? ["", "", ""] : [...valuesOf(after), after.name]),
        limit,
      );
      return rows.map(toSecret);
    },
    reseal: async (secret, { keyId, sealed }) =>
      (await db.run(
        `UPDATE secrets SET key_id = ?, sealed = ? WHERE ${OF_KEY} AND sealed = ?`,
        keyId,
        sealed,
        ...valuesOf(secret),
        secret.name,
        secret.sealed,
      )) > 0,
  };
}

/** The columns are part of the primary key and cannot be NULL: a secret of a project has an empty pipeline. */
function valuesOf({ projectId, pipelineId }: SecretScope): readonly [string, string] {
  return [projectId, pipelineId ?? ""];
}

function toSecret(row: Row): SealedSecret {
  const key: SecretKey = {
    projectId: row["project_id"] as ProjectId,
    pipelineId: row["pipeline_id"] === "" ? null : (row["pipeline_id"] as PipelineId),
    name: row["name"] as string,
  };
  return {
    ...key,
    version: row["version"] as number,
    keyId: row["key_id"] as string,
    sealed: row["sealed"] as string,
    createdAt: row["created_at"] as number,
    createdBy: row["created_by"] as string,
    updatedAt: row["updated_at"] as number,
    updatedBy: row["updated_by"] as string,
  };
}
