/** The blocks that a process gives the write-ahead log of a store which other processes use, too. */
import { closeSync, fstatSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { extendLog } from "../../src/stores/sqlite/log-extension.ts";

describe("the extension of the write-ahead log", () => {
  let folder: string;
  let path: string;
  const opened: SqliteConnection[] = [];
  let log: number;
  const open = (): SqliteConnection => {
    const connection = new SqliteConnection(path);
    opened.push(connection);
    connection.pragma("busy_timeout = 0");
    connection.pragma("journal_mode = WAL");
    return connection;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-log-"));
    path = join(folder, "store.db");
    open().exec("CREATE TABLE texts (text TEXT)");
    log = openSync(`${path}-wal`, "r+");
  });
  afterEach(async () => {
    closeSync(log);
    for (const connection of opened.splice(0)) connection.close();
    await rm(folder, { recursive: true });
  });

  it("waits for another writer, whose commit it would replace by zeros", () => {
    const [extending, writing] = [open(), open()];
    writing.exec("BEGIN IMMEDIATE");
    const before = fstatSync(log).size;
    extendLog(extending, log, path);
    expect(fstatSync(log).size, "beside the writer").to.equal(before);
    writing.exec("INSERT INTO texts VALUES ('kept'); COMMIT");
    extendLog(extending, log, path);
    expect(fstatSync(log).size).to.be.above(before + 1_000_000);
    writing.exec("INSERT INTO texts VALUES ('kept, too')");
    const texts = open().prepare("SELECT text FROM texts ORDER BY rowid").all();
    expect(texts).to.deep.equal([{ text: "kept" }, { text: "kept, too" }]);
  });
});
