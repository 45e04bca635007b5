/** The contract of the store of uploads. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId, type ProjectId, type UploadId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import type { StoredContent, UploadRecord } from "../../src/stores/ports/uploads.ts";

const FAR = 4_000_000_000_000;
const NEVER = 5_000_000_000_000;
const CONTENT: StoredContent = {
  sizeBytes: 90,
  sha256: "ab".repeat(32),
  sniffedType: "image/png",
  typeMatches: false,
};

const newProject = (): ProjectId => newId("prj");

export function uploadRecord(overrides: Partial<UploadRecord> = {}): UploadRecord {
  return {
    uploadId: newId("upl"),
    projectId: newProject(),
    name: "ünï $a.txt",
    type: "text/plain",
    state: "uploading",
    sizeBytes: 100,
    sha256: "",
    sniffedType: null,
    typeMatches: true,
    createdBy: "ann",
    createdAt: 1_000,
    usedAt: 1_000,
    expiresAt: FAR,
    writer: "w1",
    ...overrides,
  };
}

export function uploadStoreContract(stores: () => Stores): void {
  describe("uploads", () => {
    const begin = async (overrides: Partial<UploadRecord> = {}): Promise<UploadRecord> => {
      const record = uploadRecord(overrides);
      await stores().uploads.begin(record);
      return record;
    };
    const stored = async (at: number, overrides: Partial<UploadRecord> = {}): Promise<UploadRecord> => {
      const record = await begin({ createdAt: at, ...overrides });
      expect(await stores().uploads.store(record, CONTENT, at, record.expiresAt)).to.equal(true);
      return { ...record, ...CONTENT, state: "stored", usedAt: at };
    };
    const drop = async ({ uploadId }: UploadRecord): Promise<void> => {
      await stores().uploads.markDeleting(uploadId, NEVER);
      await stores().uploads.remove(uploadId);
    };

    it("have the record that they began with, and then what is known of their content", async () => {
      const record = await begin();
      const { uploads } = stores();
      expect(await uploads.find(record.uploadId)).to.deep.equal(record);
      expect(await uploads.find("upl_none" as UploadId)).to.equal(undefined);
      expect(await uploads.store(record, CONTENT, 2_000, 9_000)).to.equal(true);
      const whole = { ...record, ...CONTENT, state: "stored", usedAt: 2_000, expiresAt: 9_000 };
      expect(await uploads.find(record.uploadId)).to.deep.equal(whole);
      expect(await uploads.store(record, CONTENT, 3_000, FAR), "again").to.equal(false);
      const plain = await begin();
      await uploads.store(plain, { ...CONTENT, sniffedType: null, typeMatches: true }, 2_000, 9_000);
      expect(await uploads.find(plain.uploadId)).to.include({ sniffedType: null, typeMatches: true });
      await drop(record);
      await drop(plain);
    });

    it("have one writer at a time, and none once they are stored", async () => {
      const record = await begin();
      const { uploads } = stores();
      expect(await uploads.takeOver(record.uploadId, "w2", 7_000)).to.equal(true);
      expect(await uploads.find(record.uploadId)).to.include({ writer: "w2", expiresAt: 7_000 });
      expect(await uploads.store(record, CONTENT, 2_000, FAR), "by the first writer").to.equal(false);
      expect(await uploads.store({ ...record, writer: "w2" }, CONTENT, 2_000, FAR)).to.equal(true);
      expect(await uploads.takeOver(record.uploadId, "w3", FAR)).to.equal(false);
      expect(await uploads.takeOver("upl_none" as UploadId, "w3", FAR)).to.equal(false);
    });

    it("are listed by project, the newest first, behind a place", async () => {
      const projectId = newProject();
      const [a, b, c] = [
        await stored(10, { projectId }),
        await begin({ projectId, createdAt: 30 }),
        await stored(20, { projectId }),
      ];
      const twins = [await begin({ projectId, createdAt: 5 }), await begin({ projectId, createdAt: 5 })];
      const [low, high] = twins.toSorted((one, other) => (one.uploadId < other.uploadId ? -1 : 1));
      await begin();
      const gone = await stored(15, { projectId });
      await stores().uploads.markDeleting(gone.uploadId, NEVER);
      const list = async (limit: number, after?: UploadRecord) => {
        const place = after && { at: after.createdAt, id: after.uploadId };
        const found = await stores().uploads.list(projectId, limit, place);
        expect(found.total).to.equal(5);
        return found.list.map(({ uploadId }) => uploadId);
      };
      const all = [b, c, a, high!, low!].map(({ uploadId }) => uploadId);
      expect(await list(10)).to.deep.equal(all);
      expect(await list(2)).to.deep.equal(all.slice(0, 2));
      expect(await list(2, c)).to.deep.equal(all.slice(2, 4));
      expect(await list(10, high)).to.deep.equal(all.slice(4));
      await stores().uploads.remove(gone.uploadId);
    });

    it("are counted with their bytes, complete or not", async () => {
      const projectId = newProject();
      expect(await stores().uploads.amountOf(projectId)).to.deep.equal({ count: 0, bytes: 0 });
      await begin({ projectId });
      await stored(1, { projectId });
      expect(await stores().uploads.amountOf(projectId)).to.deep.equal({ count: 2, bytes: 190 });
    });

    it("are used by runs while they are stored, and only in their project", async () => {
      const { uploads } = stores();
      const open = await begin();
      const upload = await stored(10, { expiresAt: 100 });
      const [first, second] = [newId("run"), newId("run")];
      expect(await uploads.use(open, { runId: first, at: 20 }, FAR), "not complete").to.equal(false);
      expect(await uploads.use({ ...upload, projectId: newProject() }, { runId: first, at: 20 }, FAR)).to.equal(false);
      expect(await uploads.usesOf(upload.uploadId, 10)).to.deep.equal([]);
      expect(await uploads.find(upload.uploadId)).to.include({ usedAt: 10, expiresAt: 100 });
      for (const runId of [first, first, second]) {
        expect(await uploads.use(upload, { runId, at: runId === first ? 20 : 30 }, 500)).to.equal(true);
      }
      expect(await uploads.find(upload.uploadId)).to.include({ usedAt: 30, expiresAt: 500 });
      expect(await uploads.usesOf(open.uploadId, 10)).to.deep.equal([]);
      const uses = await uploads.usesOf(upload.uploadId, 10);
      expect(uses).to.deep.equal([
        { runId: second, at: 30 },
        { runId: first, at: 20 },
      ]);
      expect(await uploads.usesOf(upload.uploadId, 1)).to.deep.equal(uses.slice(0, 1));
      await uploads.dropUse(upload.uploadId, second);
      expect(await uploads.usesOf(upload.uploadId, 10)).to.deep.equal(uses.slice(1));
      const other = await stored(10);
      await uploads.use(other, { runId: first, at: 20 }, 500);
      await uploads.forgetRun(first);
      for (const { uploadId } of [upload, other]) expect(await uploads.usesOf(uploadId, 10)).to.deep.equal([]);
    });

    it("are due when they expire, and at once when they are marked as deleting", async () => {
      const { uploads } = stores();
      const late = await begin({ expiresAt: 300 });
      const first = await begin({ expiresAt: 100 });
      const given = await stored(10);
      const mine = [late, first, given].map(({ uploadId }) => uploadId);
      const due = async (now: number) =>
        (await uploads.expired(now, 1_000)).map(({ uploadId }) => uploadId).filter((id) => mine.includes(id));
      expect(await due(99)).to.deep.equal([]);
      expect(await due(300)).to.deep.equal([first.uploadId, late.uploadId]);
      expect(await uploads.expired(300, 1)).to.have.length(1);
      await uploads.extend(late.uploadId, 301);
      expect(await due(300)).to.deep.equal([first.uploadId]);
      await uploads.markDeleting(given.uploadId, NEVER);
      await uploads.extend(given.uploadId, FAR);
      expect(await due(99)).to.deep.equal([given.uploadId]);
      for (const record of [late, first, given]) await drop(record);
      expect(await due(300)).to.deep.equal([]);
    });

    it("are marked as deleting unless they were used since, and only then removed with their uses", async () => {
      const { uploads } = stores();
      const upload = await stored(10);
      const runId = newId("run");
      await uploads.use(upload, { runId, at: 500 }, FAR);
      expect(await uploads.markDeleting(upload.uploadId, 499)).to.equal(false);
      await uploads.remove(upload.uploadId);
      expect(await uploads.find(upload.uploadId)).to.include({ state: "stored" });
      expect(await uploads.markDeleting(upload.uploadId, 500)).to.equal(true);
      expect(await uploads.markDeleting(upload.uploadId, 500), "again").to.equal(true);
      expect(await uploads.use(upload, { runId: newId("run"), at: 600 }, FAR), "while it is deleted").to.equal(false);
      await uploads.remove(upload.uploadId);
      expect(await uploads.find(upload.uploadId)).to.equal(undefined);
      expect(await uploads.usesOf(upload.uploadId, 10)).to.deep.equal([]);
    });
  });
}
