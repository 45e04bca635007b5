/** Migrations of both stores: one after the other, with concurrent processes, and after a kill at any moment. */
import { expect } from "chai";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { MillraceError } from "../../src/domain/errors.ts";
import { Connection } from "../../src/stores/mongo/connection.ts";
import { migrate as migrateMongo } from "../../src/stores/mongo/migrate.ts";
import type { Migration } from "../../src/stores/mongo/schema.ts";
import { migrate, storedVersion } from "../../src/stores/sqlite/migrations/migrate.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { TSX } from "../support/test-programs.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const run = promisify(execFile);
const source = (path: string) => JSON.stringify(new URL(`../../src/stores/${path}`, import.meta.url).href);

/** Runs a script in a child process; answers the signal that ended it, or null. */
async function inChild(script: string, ...args: readonly string[]): Promise<string | null> {
  const flags = ["--import", TSX, "--input-type=module", "-e", script, ...args];
  return run(process.execPath, flags).then(
    () => null,
    (error: { signal?: string | null; stderr: string }) => {
      if (error.signal) return error.signal;
      throw new Error(error.stderr);
    },
  );
}

async function refusal(attempt: () => void | Promise<void>): Promise<MillraceError> {
  try {
    await attempt();
  } catch (error) {
    expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
    return error as MillraceError;
  }
  throw new Error("nothing was refused");
}

describe("migrations of the store on SQLite", function () {
  this.timeout(60_000);
  const FIRST = "CREATE TABLE one (id TEXT); INSERT INTO one VALUES ('kept')";
  const SECOND = "CREATE TABLE two (id TEXT); INSERT INTO two SELECT id FROM one";
  const LIST = [FIRST, SECOND];
  let folder: string;
  let path: string;
  let connection: SqliteConnection;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-migrations-"));
    path = join(folder, "millrace.db");
    connection = new SqliteConnection(path);
  });
  afterEach(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const tables = () =>
    (connection.prepare("SELECT name FROM sqlite_schema ORDER BY name").all() as { name: string }[]).map(
      ({ name }) => name,
    );
  const rows = (table: string) => (connection.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;

  it("are applied once each, and new ones are added to an existing store", () => {
    migrate(connection, path, [FIRST]);
    migrate(connection, path, [FIRST]);
    expect([storedVersion(connection), tables(), rows("one")]).to.deep.equal([1, ["one"], 1]);
    migrate(connection, path, LIST);
    expect([storedVersion(connection), tables(), rows("two")]).to.deep.equal([2, ["one", "two"], 1]);
  });

  it("leave a file as it was when one of them fails, and run once it is corrected", () => {
    expect(() =>
      migrate(connection, path, [FIRST, "CREATE TABLE two (id TEXT); INSERT INTO nowhere VALUES (1)"]),
    ).to.throw("nowhere");
    expect([storedVersion(connection), tables()]).to.deep.equal([0, []]);
    migrate(connection, path, LIST);
    expect(tables()).to.deep.equal(["one", "two"]);
  });

  it("leave a file as it was when the process is killed during them", async () => {
    const script = `
      import { SqliteConnection } from ${source("../sqlite/connection.ts")};
      import { migrate } from ${source("sqlite/migrations/migrate.ts")};
      const list = [${JSON.stringify(FIRST)}, ""];
      Object.defineProperty(list, 1, { get: () => process.kill(process.pid, "SIGKILL") });
      const connection = new SqliteConnection(process.argv[1]);
      connection.pragma("journal_mode = WAL");
      migrate(connection, process.argv[1], list);`;
    expect(await inChild(script, path)).to.equal("SIGKILL");
    expect([storedVersion(connection), tables()]).to.deep.equal([0, []]);
    migrate(connection, path, LIST);
    expect([storedVersion(connection), tables(), rows("two")]).to.deep.equal([2, ["one", "two"], 1]);
  });

  it("are applied by one of several processes that open the same file at once", async () => {
    const script = `
      import { openSqliteStores } from ${source("sqlite/open.ts")};
      const stores = await openSqliteStores({ path: process.argv[1] });
      await stores.shards.takeEpoch(1);
      await stores.close();`;
    expect(await Promise.all([1, 2, 3].map(() => inChild(script, path)))).to.deep.equal([null, null, null]);
    expect(connection.prepare("SELECT epoch FROM shards").get()).to.include({ epoch: 3 });
  });

  it("refuse a file of a newer version, say what to do, and do not change the file", async () => {
    migrate(connection, path, LIST);
    const { message } = await refusal(() => migrate(connection, path, [FIRST]));
    expect(message)
      .to.include(path)
      .and.to.include("have version 2, this one knows up to 1")
      .and.to.include("start that version");
    expect([storedVersion(connection), connection.inTransaction, rows("two")]).to.deep.equal([2, false, 1]);
  });
});

describe("migrations of the store on MongoDB", function () {
  this.timeout(60_000);
  let url: string;
  let database: string;
  const opened: Connection[] = [];

  before(async () => {
    ({ url } = await startTestMongo());
  });
  beforeEach(() => {
    database = freshDatabase();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((connection) => connection.close()));
  });

  async function open(): Promise<Connection> {
    const connection = await Connection.open({ url, database });
    opened.push(connection);
    return connection;
  }

  const versionOf = async (connection: Connection) =>
    (await connection.collection("settings").findOne({ _id: "STORE_SCHEMA" }))?.["value"] as string;

  /** A migration that stores one document, and records in `ran` when it ran. */
  const putting =
    (ran: string[], id: string, meanwhile: () => Promise<void> = async () => {}): Migration =>
    async (connection) => {
      ran.push(id);
      await meanwhile();
      await connection.collection("documents").updateOne({ _id: id }, { $set: { done: true } }, { upsert: true });
    };

  it("are applied once each, and new ones are added to an existing store", async () => {
    const connection = await open();
    const ran: string[] = [];
    await migrateMongo(connection, [putting(ran, "a")]);
    await migrateMongo(connection, [putting(ran, "a")]);
    await migrateMongo(connection, [putting(ran, "a"), putting(ran, "b"), putting(ran, "c")]);
    expect(ran).to.deep.equal(["a", "b", "c"]);
    expect(await versionOf(connection)).to.equal("3");
  });

  it("count those that are done when one fails, and start again there", async () => {
    const connection = await open();
    const ran: string[] = [];
    const failing = putting(ran, "b", () => Promise.reject(new Error("no room")));
    const failed = await migrateMongo(connection, [putting(ran, "a"), failing]).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error).with.property("message", "no room");
    expect(await versionOf(connection)).to.equal("1");
    await migrateMongo(connection, [putting(ran, "a"), putting(ran, "b")]);
    expect(ran).to.deep.equal(["a", "b", "b"]);
    expect(await versionOf(connection)).to.equal("2");
  });

  it("are repeated when the process is killed during one", async () => {
    const script = `
      import { Connection } from ${source("mongo/connection.ts")};
      import { migrate } from ${source("mongo/migrate.ts")};
      const [, url, database] = process.argv;
      const connection = await Connection.open({ url, database });
      await migrate(connection, [async () => {
        await connection.collection("documents").insertOne({ _id: "a" });
        process.kill(process.pid, "SIGKILL");
      }]);`;
    expect(await inChild(script, url, database)).to.equal("SIGKILL");
    const connection = await open();
    expect(await versionOf(connection)).to.equal("0");
    await migrateMongo(connection, [putting([], "a")]);
    expect(await versionOf(connection)).to.equal("1");
    expect(await connection.collection("documents").findOne({ _id: "a" })).to.deep.equal({ _id: "a", done: true });
  });

  it("end at the newest version when two nodes run them at once", async () => {
    const [one, two] = await Promise.all([open(), open()]);
    const ran: string[] = [];
    let both = () => {};
    const bothArrived = new Promise<void>((resolve) => (both = resolve));
    const meeting = async () => {
      if (ran.length === 2) both();
      await bothArrived;
    };
    const list = [putting(ran, "a", meeting), putting(ran, "b")];
    await Promise.all([migrateMongo(one, list), migrateMongo(two, list)]);
    expect(ran.slice(0, 2)).to.deep.equal(["a", "a"]);
    expect(await versionOf(one)).to.equal("2");
  });

  it("never count backwards: a slow node finds later migrations done", async () => {
    const [slow, quick] = await Promise.all([open(), open()]);
    const ran: string[] = [];
    const rest = ["b", "c"].map((id) => putting(ran, id));
    const overtaken = putting(ran, "slow a", () => migrateMongo(quick, [putting(ran, "a"), ...rest]));
    await migrateMongo(slow, [overtaken, ...rest]);
    expect(ran).to.deep.equal(["slow a", "a", "b", "c"]);
    expect(await versionOf(slow)).to.equal("3");
  });

  it("refuse a database of a newer version, say what to do, and do not change it", async () => {
    const connection = await open();
    const ran: string[] = [];
    await migrateMongo(connection, [putting(ran, "a"), putting(ran, "b")]);
    const { message } = await refusal(() => migrateMongo(connection, [putting(ran, "other")]));
    expect(message).to.include("has version 2, this one knows up to 1").and.to.include("start that version");
    expect([ran, await versionOf(connection)]).to.deep.equal([["a", "b"], "2"]);
  });
});
