/** Files, folders and disks that the embedded store cannot use: it says what is wrong, and changes nothing. */
import { expect } from "chai";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { MillraceError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { ProcessWorld, type StartOptions } from "../support/processes.ts";
import { TSX } from "../support/test-programs.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const PAGE_BYTES = 4_096;
const UNPRIVILEGED_ID = 65_534;
const run = promisify(execFile);

/** Opens the store and writes to it without the rights of root, because root may open every file. */
const UNPRIVILEGED_SCRIPT = `
  import { openSqliteStores } from ${JSON.stringify(new URL("../../src/stores/sqlite/open.ts", import.meta.url).href)};
  if (process.getuid() === 0) {
    process.setgroups([]);
    process.setgid(${UNPRIVILEGED_ID});
    process.setuid(${UNPRIVILEGED_ID});
  }
  await openSqliteStores({ path: process.argv[1] }).then(
    (stores) => stores.shards.takeEpoch(1),
  ).then(() => console.log("written"), (error) => console.log(error.reason, error.message));
`;

describe("an embedded store", function () {
  this.timeout(60_000);
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-faults-"));
    path = join(folder, "millrace.db");
  });
  afterEach(async () => {
    await chmod(folder, 0o700);
    await rm(folder, { recursive: true, force: true });
  });

  async function refusal(attempt: Promise<unknown>): Promise<MillraceError> {
    const error = await attempt.then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
    return error as MillraceError;
  }

  async function writeUnprivileged(): Promise<string> {
    const flags = ["--import", TSX, "--input-type=module", "-e", UNPRIVILEGED_SCRIPT, path];
    return (await run(process.execPath, flags)).stdout.trim();
  }

  /** A store in one file, without a write-ahead log beside it. */
  async function makeStore(runs: number): Promise<void> {
    const seed = join(folder, "seed.db");
    const stores = await openSqliteStores({ path: seed });
    for (let n = 0; n < runs; n++) await stores.aggregates.create(sampleAggregate());
    await stores.close();
    const connection = new SqliteConnection(seed);
    connection.prepare("VACUUM INTO ?").run(path);
    connection.close();
  }

  async function damage(firstByte: number): Promise<void> {
    const file = await open(path, "r+");
    await file.write(Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, firstByte);
    await file.close();
  }

  it("that may be read but not written says so, and is not changed", async () => {
    await makeStore(1);
    await chmod(path, 0o444);
    await chmod(folder, 0o555);
    const before = await readFile(path);
    const answer = await writeUnprivileged();
    expect(answer).to.match(
      /^unavailable the store .*millrace\.db cannot be (written|opened): check .*the owner and the mode/,
    );
    expect((await readFile(path)).equals(before)).to.equal(true);
  });

  it("in a folder that this user may not write or enter says so", async () => {
    for (const mode of [0o555, 0o000]) {
      await chmod(folder, mode);
      expect(await writeUnprivileged(), mode.toString(8)).to.match(
        /^unavailable the store .* cannot be opened: check that its folder/,
      );
    }
  });

  it("that is damaged at its beginning is refused at the start, and says what to do", async () => {
    await makeStore(1);
    await damage(0);
    expect((await refusal(openSqliteStores({ path }))).message).to.include("is not a database of millrace");
  });

  it("that is damaged further on says so when that part is read, and is not written", async () => {
    await makeStore(200);
    await damage(PAGE_BYTES);
    const damaged = await readFile(path);
    const met = openSqliteStores({ path }).then(async (stores) => {
      try {
        await stores.aggregates.create(sampleAggregate());
      } finally {
        await stores.close();
      }
    });
    expect((await refusal(met)).message).to.include("is damaged: restore it from a backup");
    expect((await readFile(path)).subarray(PAGE_BYTES).equals(damaged.subarray(PAGE_BYTES))).to.equal(true);
  });

  it("that reaches its limit refuses writes and answers reads, until the limit is raised", async () => {
    const limitBytes = 1e6;
    const small = await openSqliteStores({ path, limitBytes });
    let stored = 0;
    const full = await refusal(
      (async () => {
        for (; stored < 10_000; stored++) await small.aggregates.create(sampleAggregate());
      })(),
    );
    expect(full.message)
      .to.include("has reached MILLRACE_STORE_LIMIT (1 MB)")
      .and.to.include("nothing that was acknowledged is lost");
    expect((await small.aggregates.listRuns({}, { page: 1, pageSize: 1, descending: true })).total).to.equal(stored);
    await small.close();
    expect((await stat(path)).size).to.be.at.most(limitBytes);

    const lower = await openSqliteStores({ path, limitBytes: limitBytes / 2 });
    expect((await lower.aggregates.listRuns({}, { page: 1, pageSize: 1, descending: true })).total).to.equal(stored);
    await refusal(lower.aggregates.create(sampleAggregate()));
    await lower.close();

    const higher = await openSqliteStores({ path, limitBytes: 2 * limitBytes });
    expect(await higher.aggregates.create(sampleAggregate())).to.equal("created");
    await higher.close();
  });

  it("that log lines have filled still stores the states of runs, until there is room for lines again", async () => {
    const limitBytes = 2e6;
    const stores = await openSqliteStores({ path, limitBytes });
    const stepRunId = newId("step");
    const entry = { timeMs: 0, stream: "stdout", level: "info", content: "x".repeat(10_000), lost: 0 } as const;
    const append = (line: number) => stores.logs.append({ stepRunId, agentId: "a", lines: [{ line, ...entry }] });
    let stored = 0;
    const refused = await refusal(
      (async () => {
        while (stored < 10_000) expect(await append(stored + 1)).to.equal(++stored);
      })(),
    );
    expect(refused.message)
      .to.include("is almost full")
      .and.to.include("MILLRACE_STORE_LIMIT (2 MB)")
      .and.to.include("kept for the states of runs");
    expect(stored).to.be.greaterThan(50);
    expect((await refusal(stores.agentEvents.append([]))).message).to.include("is almost full");

    const aggregate = sampleAggregate();
    expect(await stores.aggregates.create(aggregate)).to.equal("created");
    const { head } = aggregate;
    let version = head.version;
    for (; version < 200; version++) {
      const save = { expectedVersion: version, head: { ...head, version: version + 1 }, changed: [], events: [] };
      expect(await stores.aggregates.save(save)).to.equal("saved");
    }
    expect(await stores.logs.storedThrough(stepRunId), "what was acknowledged").to.equal(stored);
    await refusal(append(stored + 1));

    await stores.retention.dropLogs(newId("run"), [stepRunId]);
    expect(await append(stored + 1)).to.equal(stored + 1);
    await stores.close();
  });

  it("shrinks its write-ahead log again after a long read of an old state", async () => {
    const stores = await openSqliteStores({ path });
    const reader = new SqliteConnection(path);
    const line = {
      line: 1,
      timeMs: 0,
      stream: "stdout",
      level: "info",
      content: "x".repeat(900_000),
      lost: 0,
    } as const;
    const append = () =>
      stores.logs.append({
        stepRunId: newId("step"),
        agentId: newId("agt"),
        lines: [line],
      });
    try {
      reader.exec("BEGIN");
      reader.prepare("SELECT count(*) AS n FROM aggregates").get();
      for (let n = 0; n < 90; n++) await append();
      expect((await stat(`${path}-wal`)).size).to.be.above(75e6);
      reader.exec("COMMIT");
      await append();
      await append();
      expect((await stat(`${path}-wal`)).size).to.be.at.most(64 * 2 ** 20);
    } finally {
      reader.close();
      await stores.close();
    }
  });
});

describe("a node whose data directory cannot be used", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => {
    world = await ProcessWorld.create();
  });
  after(() => world.end());

  async function refusalOf(dataDir: string, options: StartOptions = {}): Promise<string> {
    const env = { MILLRACE_DATA_DIR: dataDir, MILLRACE_METRICS_ADDRESS: "127.0.0.1:0" };
    const node = world.start(["serve", "--roles", "worker"], { env, ...options });
    expect((await node.exited).code).to.equal(1);
    expect(await world.alive()).to.deep.equal([]);
    return node.stderr.trim().split("\n").at(-1)!;
  }

  it("reports that at its start in one line, exits with status 1, and starts nothing", async () => {
    const file = join(world.folder, "file");
    await writeFile(file, "another program's");
    expect(await refusalOf(file)).to.match(
      /^error: cannot create the data directory .*file \(EEXIST\): choose another/,
    );
    expect(await refusalOf(join(file, "below"))).to.match(
      /^error: cannot create the data directory .* \(ENOTDIR\): choose/,
    );
    expect(await readFile(file, "utf8")).to.equal("another program's");

    const closed = join(world.folder, "closed");
    await mkdir(closed, { mode: 0o555 });
    await chmod(world.folder, 0o755);
    const refused = await refusalOf(closed, { program: "test/stores/unprivileged-program.ts" });
    expect(refused).to.match(
      /^error: cannot use the data directory .*closed \(.+\): make it writable, or choose another/,
    );

    await mkdir(join(world.folder, "data"));
    await writeFile(
      join(world.folder, "data", "millrace.db"),
      "no database, and long enough to be read as one".repeat(99),
    );
    expect(await refusalOf(join(world.folder, "data"))).to.match(
      /^error: the store .*millrace.db is not a database of millrace/,
    );
  });
});
