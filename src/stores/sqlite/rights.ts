/** Tenants, teams, bound rights, and the documents of tenants and projects in SQLite. */
import { asId, type TeamId, type UserId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import { isAsExpected } from "../ports/expected.ts";
import type { DocumentKind, DocumentOf, DocumentStore, OwnedDocument, OwnerOf } from "../ports/documents.ts";
import { type Binding, type RightsStore, storedArea, type Team, type Tenant } from "../ports/rights.ts";
import { bodiesOf, bodyOf } from "./bodies.ts";
import { areaDeletionStore } from "./deletions.ts";
import type { Database, Row } from "./database.ts";

/** As the index has it. */
const SLUG = "json_extract(body, '$.slug')";

export function rightsStore(db: Database): RightsStore {
  const isTenantNameTaken = ({ tenantId, name }: Pick<Tenant, "tenantId" | "name">): boolean =>
    db.getNow("SELECT 1 AS taken FROM tenants WHERE name = ? AND tenant_id <> ?", name, tenantId) !== undefined;
  const isTenantSlugTaken = ({ tenantId, slug }: Pick<Tenant, "tenantId" | "slug">): boolean =>
    slug !== undefined &&
    db.getNow(`SELECT 1 AS taken FROM tenants WHERE ${SLUG} = ? AND tenant_id <> ?`, slug, tenantId) !== undefined;
  const isTeamNameTaken = ({ teamId, tenantId, name }: Team): boolean =>
    db.getNow(
      "SELECT 1 AS taken FROM teams WHERE tenant_id = ? AND name = ? AND team_id <> ?",
      tenantId,
      name,
      teamId,
    ) !== undefined;
  const unbindAllNow = (area: Area): void => {
    const { kind, id } = storedArea(area);
    db.runNow("DELETE FROM bindings WHERE area = ? AND area_id = ?", kind, id);
  };
  const deleteTeamNow = (teamId: string): boolean => {
    db.runNow("DELETE FROM bindings WHERE subject_id = ?", teamId);
    db.runNow("DELETE FROM team_members WHERE team_id = ?", teamId);
    return db.runNow("DELETE FROM teams WHERE team_id = ?", teamId) > 0;
  };

  return {
    createTenant: (tenant) =>
      db.transaction(() => {
        if (isTenantNameTaken(tenant)) return "nameTaken";
        if (isTenantSlugTaken(tenant)) return "slugTaken";
        const sql = "INSERT INTO tenants VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
        db.runNow(sql, tenant.tenantId, tenant.name, JSON.stringify(tenant));
        return "created";
      }),
    changeTenant: (tenantId, change, expected = {}) =>
      db.transaction(() => {
        const stored = bodyOf<Tenant>(db.getNow("SELECT body FROM tenants WHERE tenant_id = ?", tenantId));
        if (stored === undefined) return "missing";
        if (!isAsExpected(stored, expected)) return "moved";
        const tenant = { ...stored, ...change };
        if (isTenantNameTaken(tenant)) return "nameTaken";
        if (isTenantSlugTaken(tenant)) return "slugTaken";
        const sql = "UPDATE tenants SET name = ?, body = ? WHERE tenant_id = ?";
        db.runNow(sql, tenant.name, JSON.stringify(tenant), tenantId);
        return "changed";
      }),
    findTenant: async (tenantId) =>
      bodyOf<Tenant>(await db.get("SELECT body FROM tenants WHERE tenant_id = ?", tenantId)),
    findTenantBySlug: async (slug) => bodyOf<Tenant>(await db.get(`SELECT body FROM tenants WHERE ${SLUG} = ?`, slug)),
    async listTenants(only) {
      if (only === undefined) return bodiesOf<Tenant>(await db.all("SELECT body FROM tenants ORDER BY tenant_id"));
      const sql = "SELECT body FROM tenants WHERE tenant_id IN (SELECT value FROM json_each(?)) ORDER BY tenant_id";
      return bodiesOf<Tenant>(await db.all(sql, JSON.stringify(only)));
    },
    deleteTenant: (tenantId) =>
      db.transaction(() => {
        for (const row of db.allNow("SELECT team_id FROM teams WHERE tenant_id = ?", tenantId)) {
          deleteTeamNow(row["team_id"] as string);
        }
        unbindAllNow({ tenantId });
        return db.runNow("DELETE FROM tenants WHERE tenant_id = ?", tenantId) > 0;
      }),

    createTeam: (team) =>
      db.transaction(() => {
        if (isTeamNameTaken(team)) return "nameTaken";
        const sql = "INSERT INTO teams VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
        db.runNow(sql, team.teamId, team.tenantId, team.name, JSON.stringify(team));
        return "created";
      }),
    renameTeam: (teamId, name, expected = {}) =>
      db.transaction(() => {
        const stored = bodyOf<Team>(db.getNow("SELECT body FROM teams WHERE team_id = ?", teamId));
        if (stored === undefined) return "missing";
        if (!isAsExpected(stored, expected)) return "moved";
        const team = { ...stored, name };
        if (isTeamNameTaken(team)) return "nameTaken";
        db.runNow("UPDATE teams SET name = ?, body = ? WHERE team_id = ?", name, JSON.stringify(team), teamId);
        return "changed";
      }),
    findTeam: async (teamId) => bodyOf<Team>(await db.get("SELECT body FROM teams WHERE team_id = ?", teamId)),
    listTeams: async (tenantId) =>
      bodiesOf<Team>(await db.all("SELECT body FROM teams WHERE tenant_id = ? ORDER BY name", tenantId)),
    deleteTeam: (teamId) => db.transaction(() => deleteTeamNow(teamId)),

    async addToTeam(teamId, userId) {
      await db.run("INSERT INTO team_members VALUES (?, ?) ON CONFLICT DO NOTHING", userId, teamId);
    },
    removeFromTeam: async (teamId, userId) =>
      (await db.run("DELETE FROM team_members WHERE user_id = ? AND team_id = ?", userId, teamId)) > 0,
    membersOf: async (teamId) =>
      (await db.all("SELECT user_id FROM team_members WHERE team_id = ? ORDER BY user_id", teamId)).map((row) =>
        asId<UserId>(row["user_id"] as string),
      ),
    teamsOf: async (userId) =>
      (await db.all("SELECT team_id FROM team_members WHERE user_id = ? ORDER BY team_id", userId)).map((row) =>
        asId<TeamId>(row["team_id"] as string),
      ),

    async bind(binding, expected) {
      const { kind, id } = storedArea(binding.area);
      if (expected !== undefined) {
        const sql = `UPDATE bindings SET body = ? WHERE subject_id = ? AND area = ? AND area_id = ? AND body ->> '$.role' = ?`;
        return (await db.run(sql, JSON.stringify(binding), binding.subjectId, kind, id, expected)) > 0;
      }
      await db.run(
        "INSERT INTO bindings VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
        binding.subjectId,
        kind,
        id,
        JSON.stringify(binding),
      );
      return true;
    },
    async unbind(subjectId, area) {
      const { kind, id } = storedArea(area);
      const sql = "DELETE FROM bindings WHERE subject_id = ? AND area = ? AND area_id = ?";
      return (await db.run(sql, subjectId, kind, id)) > 0;
    },
    async boundIn(area) {
      const { kind, id } = storedArea(area);
      const sql = "SELECT body FROM bindings WHERE area = ? AND area_id = ? ORDER BY subject_id";
      return bodiesOf<Binding>(await db.all(sql, kind, id));
    },
    boundTo: async (subjectId) =>
      bodiesOf<Binding>(
        await db.all("SELECT body FROM bindings WHERE subject_id = ? ORDER BY area, area_id", subjectId),
      ),
    async unbindAll(area) {
      await db.transaction(() => unbindAllNow(area));
    },

    deletions: areaDeletionStore(db),
  };
}

export function documentStore(db: Database): DocumentStore {
  const documentsOf = <K extends DocumentKind>(kind: K, rows: readonly Row[]) =>
    rows.map((row) => ({
      kind,
      owner: row["owner"] as OwnerOf<K>,
      version: row["version"] as number,
      body: JSON.parse(row["body"] as string) as OwnedDocument<K>["body"],
    }));
  return {
    async all<K extends DocumentKind>(...kinds: readonly K[]) {
      const rows = await db.all(
        "SELECT * FROM documents WHERE kind IN (SELECT value FROM json_each(?))",
        JSON.stringify(kinds),
      );
      return rows.map((row) => documentsOf(row["kind"] as K, [row])[0]!) as readonly DocumentOf<K>[];
    },
    async find<K extends DocumentKind>(kind: K, owners: readonly OwnerOf<K>[]) {
      const rows = await db.all(
        "SELECT * FROM documents WHERE kind = ? AND owner IN (SELECT value FROM json_each(?))",
        kind,
        JSON.stringify(owners),
      );
      return documentsOf(kind, rows);
    },
    async save({ kind, owner, version, body }) {
      const json = JSON.stringify(body);
      if (version === 1) {
        const insert = "INSERT INTO documents VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
        return (await db.addition(() => db.runNow(insert, owner, kind, version, json))) > 0;
      }
      const update = "UPDATE documents SET version = ?, body = ? WHERE owner = ? AND kind = ? AND version = ?";
      return (await db.run(update, version, json, owner, kind, version - 1)) > 0;
    },
    async deleteOf(owner) {
      await db.run("DELETE FROM documents WHERE owner = ?", owner);
    },
  };
}
