import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { isLocked, resultCode, SqliteConnection } from "../../src/sqlite/connection.ts";

describe("a connection to an SQLite file", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "millrace-sqlite-"));
    path = join(folder, "a.db");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function open<T>(body: (connection: SqliteConnection) => T, readonly = false): T {
    const connection = new SqliteConnection(path, { readonly });
    try {
      return body(connection);
    } finally {
      connection.close();
    }
  }
  /** What `body` throws. */
  function faultOf(body: () => unknown): unknown {
    try {
      body();
    } catch (error) {
      return error;
    }
    throw new Error("nothing was thrown");
  }

  it("rounds integers above 2^53, alone and in lists, and reads exact ones again afterwards", () => {
    open((connection) => {
      connection.exec("CREATE TABLE numbers (id INTEGER PRIMARY KEY, value INTEGER)");
      const insert = connection.prepare("INSERT INTO numbers VALUES (?1, ?2)");
      expect(insert.run(1, 2 ** 60)).to.deep.equal({ changes: 1 });
      insert.run(2, Number.MAX_SAFE_INTEGER);
      const get = connection.prepare("SELECT value, ?1 AS id FROM numbers WHERE id = ?1");
      expect(get.get(1)).to.include({ value: 2 ** 60, id: 1 });
      expect(get.get(2)).to.include({ value: Number.MAX_SAFE_INTEGER });
      const all = connection.prepare("SELECT value FROM numbers ORDER BY id").all() as { value: number }[];
      expect(all.map(({ value }) => value)).to.deep.equal([2 ** 60, Number.MAX_SAFE_INTEGER]);
    });
  });

  it("does not prepare a statement again for each value behind LIMIT", () => {
    open((connection) => {
      connection.exec("CREATE TABLE some (a INTEGER, b INTEGER)");
      // Long enough to take much longer to prepare than to run.
      const text = `SELECT ${"a + b, ".repeat(100)}a FROM some WHERE a = ? LIMIT`;
      const [given, fixed] = [connection.prepare(`${text} ?`), connection.prepare(`${text} 10`)];
      const least = { given: Infinity, fixed: Infinity };
      for (let round = 0; round < 200; round++) {
        const begun = performance.now();
        for (let time = 0; time < 20; time++) given.all(1, 10);
        const between = performance.now();
        for (let time = 0; time < 20; time++) fixed.all(1);
        least.given = Math.min(least.given, between - begun);
        least.fixed = Math.min(least.fixed, performance.now() - between);
      }
      expect(least.given).to.be.below(3 * least.fixed);
      const second = connection.prepare("SELECT value FROM json_each('[1, 2, 3]') LIMIT ? OFFSET ?");
      expect(second.all(1, 1)).to.have.length(1);
      expect(second.all(-1, 1)).to.have.length(2);
    });
  });

  it("does not repeat a statement that writes when it returns an integer above 2^53", () => {
    open((connection) => {
      connection.exec("CREATE TABLE numbers (value INTEGER)");
      const insert = connection.prepare("INSERT INTO numbers VALUES (?) RETURNING value");
      faultOf(() => insert.get(2 ** 60));
      expect(connection.prepare("SELECT count(*) AS total FROM numbers").get()).to.include({ total: 1 });
    });
  });

  it("refuses to write a file that is open for reading, and to open a missing one", () => {
    expect(resultCode(faultOf(() => open(() => {}, true)))).to.equal(14);
    open((connection) => connection.exec("CREATE TABLE a (b)"));
    const write = () => open((connection) => connection.prepare("INSERT INTO a VALUES (1)").run(), true);
    expect(resultCode(faultOf(write))! & 0xff).to.equal(8);
  });

  it("tells a lock of another process, which ends when that process is killed", () => {
    const script = `
      import { SqliteConnection } from ${JSON.stringify(new URL("../../src/sqlite/connection.ts", import.meta.url).href)};
      try { new SqliteConnection(process.argv[1]).exec("BEGIN EXCLUSIVE"); console.log("got it"); } catch (error) { console.log(error.message); }
      process.kill(process.pid, "SIGKILL");`;
    const child = () => {
      try {
        execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script, path]);
      } catch (error) {
        return String((error as { stdout: Buffer }).stdout).trim();
      }
      return "not killed";
    };
    open((connection) => {
      connection.exec("BEGIN EXCLUSIVE");
      expect([connection.inTransaction, child()]).to.deep.equal([true, "database is locked"]);
      expect(isLocked(faultOf(() => open((other) => other.exec("BEGIN IMMEDIATE"))))).to.equal(true);
      connection.exec("ROLLBACK");
    });
    expect(child()).to.equal("got it");
    open((connection) => connection.exec("BEGIN EXCLUSIVE"));
  });

  it("can be closed twice, also with statements that are in use", () => {
    const connection = new SqliteConnection(path);
    const statement = connection.prepare("SELECT 1 AS one");
    statement.get();
    connection.close();
    connection.close();
    expect(connection.open).to.equal(false);
    expect(() => statement.get()).to.throw();
  });

  it("uses the binding of Node where it is complete, and writes nothing to stderr", () => {
    const script = `
      import { sqliteBinding } from ${JSON.stringify(new URL("../../src/sqlite/binding.ts", import.meta.url).href)};
      const before = process.emitWarning;
      const binding = sqliteBinding();
      const isRestored = before === process.emitWarning;
      process.emitWarning = () => {};
      console.log(binding === process.getBuiltinModule("node:sqlite")?.DatabaseSync, isRestored);`;
    const flags = ["--import", "tsx", "--input-type=module", "-e", script];
    const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: "utf8" });
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const isComplete = major >= 24 || (major === 22 && minor >= 16);
    expect({ stdout: stdout.trim(), stderr }).to.deep.equal({ stdout: `${isComplete} true`, stderr: "" });
  });
});
