/** The contract of the store of cache entries. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { asId, type CacheId, cacheIdOf, newId, type ProjectId } from "../../src/domain/ids.ts";
import type { CacheRecord } from "../../src/stores/ports/caches.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

const FAR = 4_000_000_000_000;
const NEVER = 5_000_000_000_000;

const newProject = (): ProjectId => newId("prj");

function cacheRecord(overrides: Partial<CacheRecord> = {}): CacheRecord {
  const { projectId = newProject(), version = "v1", key = "npm-1" } = overrides;
  return {
    cacheId: cacheIdOf(projectId, version, key),
    projectId,
    key,
    version,
    runId: newId("run"),
    blobId: `blob-${key}`,
    state: "uploading",
    sizeBytes: 100,
    sha256: "ab".repeat(32),
    createdAt: 1_000,
    usedAt: 1_000,
    expiresAt: FAR,
    ...overrides,
  };
}

export function cacheStoreContract(stores: () => Stores): void {
  describe("cache entries", () => {
    const begin = async (overrides: Partial<CacheRecord> = {}): Promise<CacheRecord> => {
      const record = cacheRecord(overrides);
      expect(await stores().caches.begin(record)).to.deep.equal(record);
      return record;
    };
    /** An entry that was stored and last used at `at`. */
    const stored = async (at: number, overrides: Partial<CacheRecord> = {}): Promise<CacheRecord> => {
      const record = await begin(overrides);
      expect(await stores().caches.store(record, at, FAR)).to.equal(true);
      return { ...record, state: "stored", createdAt: at, usedAt: at };
    };
    const keysOf = (records: readonly CacheRecord[], projectId: ProjectId) =>
      records.filter((entry) => entry.projectId === projectId).map(({ key }) => key);
    const drop = async (entry: CacheRecord): Promise<void> => {
      await stores().caches.markDeleting(entry, NEVER);
      await stores().caches.remove(entry);
    };

    it("have the record that their upload began with, with any characters in the key", async () => {
      const record = await begin({ key: "a.b $c ü %_\\*" });
      expect(await stores().caches.find(record.cacheId)).to.deep.equal(record);
      expect(await stores().caches.find(asId<CacheId>("cch_NONE"))).to.equal(undefined);
    });

    it("are begun once: concurrent calls all answer the stored record", async () => {
      const record = cacheRecord();
      const others = ["b", "c", "d"].map((blobId) => ({ ...record, blobId }));
      const begun = await Promise.all([record, ...others].map((upload) => stores().caches.begin(upload)));
      const found = await stores().caches.find(record.cacheId);
      for (const answer of begun) expect(answer).to.deep.equal(found);
    });

    it("change to `stored` only by their own upload", async () => {
      const record = await begin();
      expect(await stores().caches.store({ ...record, blobId: "another" }, 2_000, 9_000), "another").to.equal(false);
      expect(await stores().caches.store(record, 2_000, 9_000)).to.equal(true);
      const stored = { ...record, state: "stored", createdAt: 2_000, usedAt: 2_000, expiresAt: 9_000 };
      expect(await stores().caches.find(record.cacheId)).to.deep.equal(stored);
      expect(await stores().caches.store(record, 3_000, FAR), "again").to.equal(false);
      await drop(record);
    });

    it("are found by a prefix of their key, the newest first, within project and version", async () => {
      const projectId = newProject();
      await stored(10, { projectId, key: "npm-$a.1" });
      await stored(30, { projectId, key: "npm-$a.2" });
      await stored(20, { projectId, key: "npm-$a.3" });
      await stored(40, { projectId, key: "npm-$b" });
      await stored(50, { projectId, key: "npm-$a.4", version: "v2" });
      await stored(60, { key: "npm-$a.5" });
      await begin({ projectId, key: "npm-$a.6", createdAt: 70 });
      const newest = async (prefix: string, now = 100) =>
        (await stores().caches.newest({ projectId, version: "v1" }, prefix, now))?.key;
      expect(await newest("npm-$a")).to.equal("npm-$a.2");
      expect(await newest("npm-$a.3")).to.equal("npm-$a.3");
      expect(await newest("npm-")).to.equal("npm-$b");
      expect(await newest("pm-"), "inside the key").to.equal(undefined);
      expect(await newest("npm-.a"), "as a pattern").to.equal(undefined);
      expect(await newest("npm_"), "as a pattern of the other kind").to.equal(undefined);
      expect(await newest("npm-", FAR), "expired").to.equal(undefined);
    });

    it("record their last use only while they are stored", async () => {
      const entry = await stored(10);
      await stores().caches.touch(entry, 500, 9_000);
      expect(await stores().caches.find(entry.cacheId)).to.include({ createdAt: 10, usedAt: 500, expiresAt: 9_000 });
      await stores().caches.markDeleting(entry, NEVER);
      await stores().caches.touch(entry, 600, FAR);
      expect(await stores().caches.find(entry.cacheId)).to.include({ state: "deleting", usedAt: 500 });
      await stores().caches.remove(entry);
    });

    it("are listed page by page, the most recently used first", async () => {
      const projectId = newProject();
      await stored(10, { projectId, key: "a1" });
      await stored(30, { projectId, key: "b1" });
      await stored(20, { projectId, key: "a2" });
      await begin({ projectId, key: "a3" });
      const list = async (prefix: string, page: number, pageSize: number) => {
        const found = await stores().caches.list(projectId, prefix, { page, pageSize });
        return [found.total, ...found.list.map(({ key }) => key)];
      };
      expect(await list("", 1, 10)).to.deep.equal([3, "b1", "a2", "a1"]);
      expect(await list("", 2, 2)).to.deep.equal([3, "a1"]);
      expect(await list("a", 1, 10)).to.deep.equal([2, "a2", "a1"]);
      expect(await list("x", 1, 10)).to.deep.equal([0]);
    });

    it("are due when they expire, and at once when they are marked as deleting", async () => {
      const projectId = newProject();
      await begin({ projectId, key: "late", expiresAt: 300 });
      const first = await begin({ projectId, key: "first", expiresAt: 100 });
      const given = await stored(10, { projectId, key: "given up" });
      const due = async (now: number) => keysOf(await stores().caches.expired(now, 1_000), projectId);
      expect(await due(99)).to.deep.equal([]);
      expect(await due(300)).to.deep.equal(["first", "late"]);
      expect(await stores().caches.expired(300, 1)).to.have.length(1);
      await stores().caches.markDeleting(given, NEVER);
      expect(await due(99)).to.deep.equal(["given up"]);
      await drop(first);
      expect(await due(300)).to.deep.equal(["given up", "late"]);
      await drop(given);
      expect(await stores().caches.find(given.cacheId)).to.equal(undefined);
    });

    it("are marked as deleting unless they were used since, and only then removed", async () => {
      const entry = await stored(10);
      await stores().caches.touch(entry, 500, FAR);
      expect(await stores().caches.markDeleting(entry, 499)).to.equal(false);
      await stores().caches.remove(entry);
      expect(await stores().caches.find(entry.cacheId)).to.include({ state: "stored" });
      expect(await stores().caches.markDeleting({ ...entry, blobId: "another" }, NEVER)).to.equal(false);
      expect(await stores().caches.markDeleting(entry, 500)).to.equal(true);
      expect(await stores().caches.markDeleting(entry, 500), "again").to.equal(true);
      await stores().caches.remove(entry);
      expect(await stores().caches.find(entry.cacheId)).to.equal(undefined);
    });

    it("above the bound of a project are listed for deletion, the longest unused first", async () => {
      const [full, other] = [newProject(), newProject()];
      for (const [at, key] of ["a", "b", "c", "d"].entries()) {
        await stored(at + 1, { projectId: full, key, sizeBytes: 40_000 });
        await stored(at + 1, { projectId: other, key, sizeBytes: 25_000 });
      }
      await begin({ projectId: full, key: "on its way", sizeBytes: 900_000 });
      const beyond = async (bytes: number, project = full) =>
        keysOf(await stores().caches.aboveProjectBytes(bytes, 1_000), project);
      expect(await beyond(160_000)).to.deep.equal([]);
      expect(await beyond(159_999)).to.deep.equal(["a"]);
      expect(await beyond(100_000)).to.deep.equal(["a", "b"]);
      expect(await beyond(100_000, other)).to.deep.equal([]);
      const first = (await stores().caches.find(cacheIdOf(full, "v1", "a")))!;
      await stores().caches.touch(first, 9, FAR);
      expect(await beyond(100_000)).to.deep.equal(["b", "c"]);
      expect(await stores().caches.aboveProjectBytes(100_000, 1)).to.have.length(1);
    });
  });
}
