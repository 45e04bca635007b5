/** What is remembered of SQLite's tables is what a statement would read now. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Database } from "../../src/stores/sqlite/database.ts";
import { ReadMemory } from "../../src/stores/sqlite/read-memory.ts";

const NAME = "SELECT name FROM users WHERE user_id = ?";
const RENAME = "UPDATE users SET name = ? WHERE user_id = 'usr_1'";

describe("remembered reads", () => {
  let folder: string;
  let db: Database;
  /** Of another process. */
  let other: Database;
  let memory: ReadMemory<{ readonly name: unknown } | undefined>;
  let reads = 0;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-memory-"));
    db = new Database(join(folder, "millrace.db"));
    other = new Database(join(folder, "millrace.db"));
    memory = new ReadMemory(db, ["users"]);
    await db.run("INSERT INTO users VALUES ('usr_1', 'ada', 1, '{}')");
    reads = 0;
  });

  afterEach(async () => {
    await db.close();
    await other.close();
    await rm(folder, { recursive: true, force: true });
  });

  const name = async (userId = "usr_1"): Promise<unknown> => {
    const found = await memory.get(userId, () => {
      reads++;
      const row = db.getNow(NAME, userId);
      return row && { name: row["name"] };
    });
    return found?.name;
  };

  it("are read once while nothing changes", async () => {
    expect([await name(), await name(), reads]).to.deep.equal(["ada", "ada", 1]);
  });

  it("are read again after a change of this process", async () => {
    await name();
    await db.run(RENAME, "grace");
    expect(await name()).to.equal("grace");
    await db.transaction(() => db.runNow("DELETE FROM users WHERE user_id = 'usr_1'"));
    expect(await name()).to.equal(undefined);
  });

  it("are read again after a change of another process", async () => {
    await name();
    await other.run(RENAME, "grace");
    expect(await name()).to.equal("grace");
  });

  it("hold what a transaction that was rolled back had not changed", async () => {
    await name();
    const failing = db.transaction(() => {
      db.runNow(RENAME, "grace");
      throw new Error("no");
    });
    await failing.catch(() => {});
    expect(await name()).to.equal("ada");
  });

  it("are kept while other tables change", async () => {
    await name();
    await db.run("DELETE FROM team_members WHERE user_id = 'usr_1'");
    expect([await name(), reads]).to.deep.equal(["ada", 1]);
  });

  it("do not remember that there is nothing", async () => {
    expect([await name("usr_2"), await name("usr_2"), reads]).to.deep.equal([undefined, undefined, 2]);
  });
});
