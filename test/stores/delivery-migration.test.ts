/** Deliveries of the version before they had row numbers. */
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { migrate } from "../../src/stores/sqlite/migrations/migrate.ts";
import { MIGRATIONS } from "../../src/stores/sqlite/migrations/migrations.ts";

const BEFORE = MIGRATIONS.findIndex((sql) => sql.includes("numbered_deliveries"));

interface Delivery {
  readonly delivery_id: string;
}

describe("the migration to deliveries with row numbers", function () {
  this.timeout(60_000);
  let folder: string;
  let connection: SqliteConnection;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-deliveries-"));
    connection = new SqliteConnection(join(folder, "millrace.db"));
    migrate(connection, "file", MIGRATIONS.slice(0, BEFORE));
  });
  afterEach(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const all = () =>
    connection.prepare("SELECT * FROM deliveries ORDER BY delivery_id").all() as unknown as readonly Delivery[];
  const indexes = () =>
    connection
      .prepare(
        "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'deliveries' AND sql LIKE 'CREATE INDEX%' ORDER BY name",
      )
      .all();

  it("keeps every delivery, its columns and its indexes", () => {
    const insert = connection.prepare("INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (let number = 1; number <= 200; number++) {
      const state = number % 3 === 0 ? "owed" : "delivered";
      const id = `dlv_${(number * 7919) % 1_000}`;
      insert.run(
        id,
        `whk_${number % 2}`,
        "prj_1",
        `run_${number % 5}`,
        number,
        state,
        number,
        number + 1,
        2,
        `{"a":${number}}`,
      );
    }
    const before = { rows: all(), indexes: indexes() };
    expect(before.rows).to.have.length(200);
    migrate(connection, "file", MIGRATIONS);
    expect({ rows: all(), indexes: indexes() }).to.deep.equal(before);
  });

  it("refuses a second delivery with an id, as before", () => {
    migrate(connection, "file", MIGRATIONS);
    const insert = connection.prepare(
      "INSERT INTO deliveries VALUES ('dlv_1', 'l', 'p', 'r', 1, 'owed', 1, 1, 0, '{}')",
    );
    insert.run();
    expect(() => insert.run()).to.throw("UNIQUE constraint failed: deliveries.delivery_id");
  });

  it("does not stop a process of the previous version that has prepared its statements", () => {
    const earlier = new SqliteConnection(join(folder, "millrace.db"));
    try {
      const insert = earlier.prepare("INSERT INTO deliveries VALUES (?, 'l', 'p', 'r', 1, 'owed', 1, 1, 0, '{}')");
      const read = earlier.prepare(
        "SELECT delivery_id FROM deliveries WHERE lane = ? ORDER BY created_at, delivery_id",
      );
      insert.run("dlv_1");
      migrate(connection, "file", MIGRATIONS);
      insert.run("dlv_2");
      const found = read.all("l") as unknown as readonly Delivery[];
      expect(found.map(({ delivery_id }) => delivery_id)).to.deep.equal(["dlv_1", "dlv_2"]);
    } finally {
      earlier.close();
    }
  });
});
