import { expect } from "chai";
import { chmod, copyFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { claimDataDir } from "../../src/node/data-dir.ts";
import { readOrMakeMasterKeys, makeMasterKey, readMasterKeyFiles } from "../../src/node/master-key-files.ts";
import { readOrMakeSigningKey } from "../../src/node/signing-key.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { ProcessWorld } from "../support/processes.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

describe("backup and restore", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  let dataDir: string;
  let stores: Stores;
  let key: Uint8Array;
  const aggregate = sampleAggregate();
  beforeEach(async () => {
    world = await ProcessWorld.create();
    dataDir = join(world.folder, "it's a data dir?#%41");
    stores = await openSqliteStores({ path: join(dataDir, "millrace.db") });
    await stores.aggregates.create(aggregate);
    key = await readOrMakeSigningKey(dataDir);
    await readOrMakeMasterKeys(dataDir);
    await makeMasterKey(dataDir, 1);
  });
  afterEach(async () => {
    await stores.close();
    await world.end();
  });

  const file = (name: string) => join(world.folder, name);

  function inFile(name: string, sql: string): void {
    const connection = new SqliteConnection(file(name));
    connection.exec(sql);
    connection.close();
  }

  async function millrace(
    ...args: readonly string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const started = world.start(args);
    const { code } = await started.exited;
    return { code, stdout: started.stdout, stderr: started.stderr };
  }

  async function refusal(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await millrace(...args);
    expect([code, stdout]).to.deep.equal([1, ""]);
    return stderr.trim();
  }

  async function backUp(name = "backup"): Promise<string> {
    const { code, stderr } = await millrace("backup", file(name), "--data-dir", dataDir);
    expect([code, stderr]).to.deep.equal([0, ""]);
    return file(name);
  }

  it("restore the store and the signing key, readable for this user only, from an open store", async () => {
    const made = await millrace("backup", file("backup"), "--data-dir", dataDir);
    expect(made).to.deep.include({ code: 0, stderr: "" });
    expect(made.stdout).to.include("keep it secret").and.not.to.include(Buffer.from(key).toString("hex"));
    expect((await stat(file("backup"))).mode & 0o777).to.equal(0o600);
    await stores.aggregates.create(sampleAggregate());
    await chmod(file("backup"), 0o444);

    const restored = file("restored");
    const done = await millrace("restore", file("backup"), "--data-dir", restored);
    expect(done).to.deep.include({ code: 0, stderr: "" });
    expect(done.stdout).to.match(/made by millrace \S+ at 20\d\d-/);
    expect((await readdir(restored)).filter((name) => /partial|journal/.test(name))).to.deep.equal([]);
    for (const name of ["millrace.db", "signing.key", "master-1.key", "master-2.key"]) {
      expect((await stat(join(restored, name))).mode & 0o777, name).to.equal(0o600);
    }
    expect(await readOrMakeSigningKey(restored)).to.deep.equal(key);
    expect(await (await readOrMakeMasterKeys(restored)).newest()).to.deep.equal(
      await (await readOrMakeMasterKeys(dataDir)).newest(),
    );
    const bytes = await readFile(join(restored, "millrace.db"), "latin1");
    for (const text of await readMasterKeyFiles(dataDir)) expect(bytes).not.to.include(text);
    const found = await openSqliteStores({ path: join(restored, "millrace.db") });
    expect(await found.aggregates.load(aggregate.head.rootId)).to.deep.equal(aggregate);
    expect((await found.aggregates.listRuns({}, { page: 1, pageSize: 10, descending: false })).total).to.equal(1);
    await found.close();
  });

  it("name no existing Redis, so that the owner of each shard writes everything to Redis again", async () => {
    const known = { generation: "g", redisRunId: "r" };
    const { epoch } = await stores.shards.takeEpoch(3);
    await stores.shards.recordRedis(3, epoch, known);
    await millrace("restore", await backUp(), "--data-dir", file("restored"));
    const found = await openSqliteStores({ path: join(file("restored"), "millrace.db") });
    const taken = await found.shards.takeEpoch(3);
    await found.close();
    expect(taken.epoch).to.equal(epoch + 1);
    expect(taken.previous).not.to.be.oneOf([null, known]).and.not.to.deep.equal(known);
  });

  it("overwrite nothing, and leave nothing behind when they fail", async () => {
    const backup = await backUp();
    const before = await readFile(backup);
    expect(await refusal("backup", backup, "--data-dir", dataDir)).to.match(/^error: .*backup exists already: choose/);
    expect((await readFile(backup)).equals(before)).to.equal(true);
    expect(await refusal("backup", file("none/b"), "--data-dir", dataDir)).to.include("cannot create a file in");
    expect(await refusal("backup", file("b"), "--data-dir", file("nowhere"))).to.include("there is no store in");

    const names = (await readdir(dataDir)).toSorted();
    expect(await refusal("restore", backup, "--data-dir", dataDir)).to.match(
      /^error: .* is not empty: stop the installation there/,
    );
    expect((await readdir(dataDir)).toSorted()).to.deep.equal(names);
    expect(await refusal("restore", file("none"), "--data-dir", file("x"))).to.include("there is no file");
    expect((await readdir(world.folder)).filter((name) => !/^(tsx-|it's|backup$)/.test(name))).to.deep.equal([]);
  });

  it("refuse a damaged, a foreign and a newer file, and then restore a good one", async () => {
    const backup = await backUp();
    const bytes = await readFile(backup);
    await writeFile(file("torn"), bytes.subarray(0, bytes.length / 2));
    await writeFile(
      file("damaged"),
      Buffer.concat([bytes.subarray(0, 8_192), Buffer.alloc(4_096, 0xa5), bytes.subarray(12_288)]),
    );
    await writeFile(file("text"), "no database, and long enough to be read as one".repeat(99));
    await writeFile(file("empty"), "");
    await copyFile(backup, file("plain copy"));
    inFile("plain copy", "DROP TABLE backup");
    await copyFile(backup, file("newer"));
    inFile("newer", "PRAGMA user_version = 999");

    const refused = [
      ["torn", "damaged"],
      ["damaged", "damaged"],
      ["text", "damaged, or the file is not a backup"],
      ["empty", "this file is not a backup"],
      ["plain copy", "this file is not a backup"],
      ["newer", "written by a newer version of millrace (its tables have version 999"],
    ] as const;
    await Promise.all(
      refused.map(async ([name, words]) => {
        const target = file(`${name} target`);
        const said = await refusal("restore", file(name), "--data-dir", target);
        expect(said, name)
          .to.match(/^error: /)
          .and.to.include(words);
        expect((await readdir(target)).toSorted(), name).to.deep.equal(["lock.db", "owner.pid"]);
      }),
    );
    expect((await millrace("restore", backup, "--data-dir", file("torn target"))).code).to.equal(0);
  });

  it("refuse a directory that another process has just claimed", async () => {
    const backup = await backUp();
    const target = file("taken");
    const release = await claimDataDir(target);
    expect(await refusal("restore", backup, "--data-dir", target)).to.include("already running");
    release();
  });

  it("refer users of MongoDB to the tools of MongoDB", async () => {
    const env = { MONGODB_URL: "mongodb://db/", MILLRACE_SIGNING_KEY: "k".repeat(32), MILLRACE_ROLES: "worker" };
    const started = world.start(["backup", file("b")], { env });
    expect((await started.exited).code).to.equal(2);
    expect(started.stderr).to.include("MONGODB_URL is set");
  });
});
