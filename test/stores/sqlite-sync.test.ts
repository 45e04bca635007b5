/** The syncs of the embedded store: what an answer rests on is on disk, and a failed sync is the end. */
import { readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { MillraceError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import { fileBlobStore } from "../../src/stores/sqlite/blobs.ts";
import { Database } from "../../src/stores/sqlite/database.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { sampleAggregate, saveOf } from "../contracts/samples.ts";
import { until } from "../support/until.ts";

describe("the embedded store's syncs", () => {
  let folder: string;
  let stores: Stores;
  /** Ends the sync that runs. */
  let endSync: ((error: Error | null) => void) | null;
  let failures: MillraceError[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-sync-"));
    endSync = null;
    failures = [];
    stores = await openSqliteStores({
      path: join(folder, "millrace.db"),
      sync: (_, done) => void (endSync = done),
      onFailure: (error) => void failures.push(error),
    });
  });
  afterEach(async () => {
    const closed = stores.close();
    for (let turn = 0; turn < 1_000 && !(await isAnswered(closed)); turn++) end(null);
    await rm(folder, { recursive: true, force: true });
  });

  function end(error: Error | null): void {
    const done = endSync;
    endSync = null;
    done?.(error);
  }

  /** True when the call is answered within some turns of the event loop. */
  async function isAnswered(call: Promise<unknown>): Promise<boolean> {
    let answered = false;
    void call.then(
      () => (answered = true),
      () => (answered = true),
    );
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return answered;
  }

  async function endUntil(call: Promise<unknown>): Promise<void> {
    for (let turn = 0; turn < 10; turn++) {
      if (await isAnswered(call)) return;
      end(null);
    }
    throw new Error("the call is not answered");
  }

  const key = { key: "k", bodyHash: "b", createdId: "run_1", at: 1 };
  const run = sampleAggregate();
  const command = { id: newId("cmd"), rootId: run.head.rootId, shard: 0, storedAt: 1 } as never;
  const reads: Record<string, () => Promise<unknown>> = {
    "a run that exists": () => stores.aggregates.create(run),
    "a save whose version is another one": () => stores.aggregates.save(saveOf(run, { version: 9 })),
    "a snapshot": () => stores.aggregates.load(run.head.rootId),
    "a head": () => stores.aggregates.loadHead(run.head.rootId),
    "the claim of a repeated call": () => stores.idempotency.claim(key),
    "the key of a repeated call": () => stores.idempotency.find(key.key),
    "the verdict on a command": () => stores.inbox.verdict((command as { id: never }).id),
    "the last line of a log": () => stores.logs.storedThrough(newId("step")),
    "the steps that an agent holds": () => stores.aggregates.stepsHeldBy(newId("agt")),
  };
  for (const [what, read] of Object.entries(reads)) {
    it(`answers ${what} only when the commits that it may have seen are on disk`, async () => {
      const created = stores.aggregates.create(run);
      await until("the first sync runs", () => endSync !== null, 1_000);
      // So many writes are committed while that sync runs, which does not cover them.
      const claims = Array.from({ length: 16 }, (_, at) => ({ ...key, key: at === 0 ? key.key : `k${at}` }));
      const claimed = Promise.all(claims.map((claim) => stores.idempotency.claim(claim)));
      await isAnswered(claimed);
      const answer = read();
      expect(await isAnswered(answer), "before any sync has ended").to.equal(false);
      end(null);
      expect(await isAnswered(created)).to.equal(true);
      expect(await isAnswered(answer), "before the sync that covers the newest commit").to.equal(false);
      end(null);
      expect(await isAnswered(claimed)).to.equal(true);
      await endUntil(answer);
    });
  }

  it("do not have statements write temporary files", async () => {
    const database = new Database(join(folder, "other.db"));
    expect(await database.get("PRAGMA temp_store"), "2 is memory").to.deep.include({ temp_store: 2 });
    await database.close();
  });

  it("commits the writes that are requested during a sync together, once it has ended", async () => {
    const created = stores.aggregates.create(run);
    await until("the sync runs", () => endSync !== null, 1_000);
    const first = stores.idempotency.claim(key);
    await isAnswered(first);
    const second = stores.idempotency.claim({ ...key, key: "another" });
    await isAnswered(second);
    const read = stores.idempotency.find(key.key);
    end(null);
    expect(await isAnswered(created)).to.equal(true);
    expect(await read, "before its commit").to.equal(undefined);
    expect(await isAnswered(Promise.race([first, second])), "before their sync has ended").to.equal(false);
    end(null);
    expect(await isAnswered(Promise.all([first, second])), "by one sync").to.equal(true);
    expect((await stores.idempotency.find(key.key))?.createdId).to.equal(key.createdId);
  });

  it("answers a read at once when everything is on disk", async () => {
    const created = stores.aggregates.create(run);
    await endUntil(created);
    expect((await stores.aggregates.loadHead(run.head.rootId))?.version).to.equal(1);
    expect(endSync).to.equal(null);
  });

  it("ends the process after a failed sync, and acknowledges nothing more", async () => {
    const created = stores.aggregates.create(run).then(
      () => "acknowledged",
      ({ reason }: MillraceError) => reason,
    );
    await until("the sync runs", () => endSync !== null, 1_000);
    const next = stores.idempotency.claim(key).then(
      () => "acknowledged",
      ({ reason }: MillraceError) => reason,
    );
    await isAnswered(next);
    end(Object.assign(new Error("i/o error"), { code: "EIO" }));
    expect(failures.map(({ message }) => message)).to.have.length(1);
    expect(failures[0]!.message).to.match(/^the store .*millrace\.db cannot be put on disk \(EIO\): this process ends/);
    expect(await Promise.all([created, next])).to.deep.equal(["unavailable", "unavailable"]);
    const later = [stores.idempotency.claim(key), stores.aggregates.loadHead(run.head.rootId), stores.ping()];
    const reasons = later.map((call) => Promise.resolve(call).catch(({ reason }: MillraceError) => reason));
    expect(await Promise.all(reasons)).to.deep.equal(["unavailable", "unavailable", "unavailable"]);
    expect(endSync, "no sync is tried again").to.equal(null);
  });

  it("writes what a dead process left in the log into the file, before it answers anything", async () => {
    const path = join(folder, "millrace.db");
    void stores.aggregates.create(run);
    await until("it is committed", () => endSync !== null, 1_000);
    expect(statSync(`${path}-wal`).size).to.be.greaterThan(0);
    const next = await openSqliteStores({ path });
    expect(readFileSync(path).includes(run.head.rootId), "in the file").to.equal(true);
    expect(statSync(`${path}-wal`).size).to.equal(0);
    expect((await next.aggregates.loadHead(run.head.rootId))?.version).to.equal(1);
    await next.close();
  });

  it("drops a blob that could not be put on disk, so that a repeat does not count on its pages", async () => {
    let works = false;
    const failing = Object.assign(new Error("i/o error"), { code: "EIO" });
    const blobs = fileBlobStore(join(folder, "blobs"), () => (works ? Promise.resolve() : Promise.reject(failing)));
    const piece = new Uint8Array([1, 2, 3]);
    await blobs.put("art_1234", 0, piece);
    const refused = await blobs.complete("art_1234", 3).catch(({ reason }: MillraceError) => reason);
    expect(refused).to.equal("unavailable");
    works = true;
    expect(await blobs.complete("art_1234", 3), "without its pieces").to.equal("incomplete");
    await blobs.put("art_1234", 0, piece);
    expect(await blobs.complete("art_1234", 3)).to.equal("complete");
  });
});
