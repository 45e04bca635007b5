/** Tenants and projects of the version before slugs get slugs, the same in both stores. */
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { Connection } from "../../src/stores/mongo/connection.ts";
import { MIGRATIONS as MONGO } from "../../src/stores/mongo/schema.ts";
import { migrate } from "../../src/stores/sqlite/migrations/migrate.ts";
import { MIGRATIONS as SQLITE } from "../../src/stores/sqlite/migrations/migrations.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";

/** How many migrations each store had before slugs. */
const BEFORE = {
  sqlite: SQLITE.findIndex((sql) => sql.includes("projects_by_slug")),
  mongo: MONGO.findIndex((run) => String(run).includes("giveSlugs")),
};

const ID = (last: string) => `prj_01JD0000000000000000000${last}`;
const PROJECTS: readonly (readonly [id: string, tenantId: string, name: string, slug: string])[] = [
  ["default", "default", "Main", "default"],
  [ID("000"), "default", "Web Shop!", "web-shop"],
  [ID("001"), "default", "web shop", "web-shop-01jd0000000000000000000001"],
  [ID("002"), "tnt_1", "web  shop", "web-shop"],
  [ID("003"), "default", "Default", "default-01jd0000000000000000000003"],
  [ID("004"), "default", "日本", "project"],
  [ID("005"), "default", `${"é".repeat(3)}${"x".repeat(80)}`, "x".repeat(63)],
  [ID("006"), "default", `${"x".repeat(80)}`, `${"x".repeat(36)}-01jd0000000000000000000006`],
];
const EXPECTED = Object.fromEntries(PROJECTS.map(([id, , , slug]) => [id, slug]));

describe("the migration to slugs", function () {
  this.timeout(60_000);

  it("gives projects and tenants in SQLite their slugs", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-slugs-"));
    const connection = new SqliteConnection(join(folder, "millrace.db"));
    try {
      migrate(connection, "file", SQLITE.slice(0, BEFORE.sqlite));
      for (const [projectId, tenantId, name] of PROJECTS) {
        const body = JSON.stringify({ projectId, tenantId, name, createdAt: 1 });
        connection.prepare("INSERT INTO projects VALUES (?, ?)").run(projectId, body);
      }
      const tenant = JSON.stringify({ tenantId: "tnt_1", name: "Acme Corp", createdAt: 1, archivedAt: null });
      connection.prepare("INSERT INTO tenants VALUES (?, ?, ?)").run("tnt_1", "Acme Corp", tenant);
      migrate(connection, "file", SQLITE);
      const rows = connection.prepare("SELECT project_id, body ->> '$.slug' AS slug FROM projects").all() as Row[];
      expect(Object.fromEntries(rows.map((row) => [row.project_id, row.slug]))).to.deep.equal(EXPECTED);
      const found = connection.prepare("SELECT body ->> '$.slug' AS slug FROM tenants").all() as Row[];
      expect(found.map(({ slug }) => slug)).to.deep.equal(["acme-corp"]);
    } finally {
      connection.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("gives projects and tenants in MongoDB the same slugs, also when it runs twice", async () => {
    const { url } = await startTestMongo();
    const connection = await Connection.open({ url, database: freshDatabase() });
    try {
      const projects = connection.collection("projects");
      const tenants = connection.collection("tenants");
      for (const [projectId, tenantId, name] of PROJECTS) {
        const document = { _id: projectId, body: { projectId, tenantId, name, createdAt: 1 } };
        await projects.insertOne(document);
      }
      const body = { tenantId: "tnt_1", name: "Acme Corp", createdAt: 1, archivedAt: null };
      await tenants.insertOne({ _id: "tnt_1", body });
      for (let count = 1; count <= 2; count++) await MONGO[BEFORE.mongo]!(connection);
      const found = await projects.find().toArray();
      const slugs = found.map((one) => [String(one._id), (one["body"] as { slug?: string }).slug]);
      expect(Object.fromEntries(slugs)).to.deep.equal(EXPECTED);
      expect((await tenants.findOne())!["body"]).to.deep.equal({ ...body, slug: "acme-corp" });
    } finally {
      await connection.close();
    }
  });
});

interface Row {
  readonly project_id: string;
  readonly slug: string;
}
