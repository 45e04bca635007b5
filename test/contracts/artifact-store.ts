/** The contract of the store of artifact records. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { type ArtifactId, artifactIdOf, newId, type RunId } from "../../src/domain/ids.ts";
import type { ArtifactRecord } from "../../src/stores/ports/artifacts.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

const SHA256 = "ab".repeat(32);
const FAR = 4_000_000_000_000;

export function artifactRecord(overrides: Partial<ArtifactRecord> = {}): ArtifactRecord {
  const { runId = newId("run"), stepRunId = newId("step"), token = 1, name = "build" } = overrides;
  const files = [{ path: "a.b/$c.txt", sizeBytes: 100, sha256: SHA256, executable: true }];
  return {
    artifactId: artifactIdOf(runId, stepRunId, token, name),
    runId,
    stepRunId,
    token,
    name,
    state: "uploading",
    sizeBytes: 100,
    fileCount: 1,
    createdAt: 1_000,
    storedAt: null,
    expiresAt: FAR,
    files,
    ...overrides,
  };
}

/** Stores the record and the content of an artifact. */
export async function storeArtifact(
  { artifacts, blobs }: Pick<Stores, "artifacts" | "blobs">,
  overrides: Partial<ArtifactRecord>,
): Promise<ArtifactRecord> {
  const record = artifactRecord(overrides);
  const { artifactId, sizeBytes, expiresAt } = record;
  await artifacts.begin(record, sizeBytes);
  await blobs.put(artifactId, 0, new Uint8Array(sizeBytes));
  await blobs.complete(artifactId, sizeBytes);
  await artifacts.store(artifactId, record.createdAt, expiresAt);
  return record;
}

export function artifactStoreContract(stores: () => Stores): void {
  describe("artifacts", () => {
    const begin = async (overrides: Partial<ArtifactRecord> = {}): Promise<ArtifactRecord> => {
      const record = artifactRecord(overrides);
      expect(await stores().artifacts.begin(record, 1_000_000)).to.deep.equal(record);
      return record;
    };
    const summaryOf = ({ files: _files, ...summary }: ArtifactRecord) => summary;
    const namesOf = async (runId: RunId) => (await stores().artifacts.ofRun(runId)).map(({ name }) => name);

    it("have the record that their upload began with, with any characters in its names", async () => {
      const record = await begin({ name: "a.b $c ü" });
      expect(await stores().artifacts.find(record.artifactId)).to.deep.equal(record);
      expect(await stores().artifacts.ofRun(record.runId)).to.deep.equal([summaryOf(record)]);
      expect(await stores().artifacts.find("art_NONE" as ArtifactId)).to.equal(undefined);
    });

    it("are begun once: concurrent calls all answer the stored record", async () => {
      const record = artifactRecord();
      const others = [2, 3, 4].map((createdAt) => ({ ...record, createdAt }));
      const begun = await Promise.all([record, ...others].map((upload) => stores().artifacts.begin(upload, 1_000)));
      const found = await stores().artifacts.find(record.artifactId);
      for (const answer of begun) expect(answer).to.deep.equal(found);
      await stores().artifacts.store(record.artifactId, 9, FAR);
      const again = await stores().artifacts.begin({ ...record, files: [] }, 0);
      expect(again, "also one that finds no room").to.deep.include({ state: "stored", files: record.files });
    });

    it("are refused when the artifacts of their run would exceed the bound", async () => {
      const { runId } = await begin({ sizeBytes: 600 });
      const more = artifactRecord({ runId, sizeBytes: 401 });
      expect(await stores().artifacts.begin(more, 1_000)).to.equal("full");
      expect(await stores().artifacts.find(more.artifactId)).to.equal(undefined);
      expect(await stores().artifacts.begin({ ...more, sizeBytes: 400 }, 1_000)).to.not.equal("full");
    });

    it("change to `stored` only from `uploading`", async () => {
      const record = await begin();
      expect(await stores().artifacts.store(record.artifactId, 2_000, 9_000)).to.equal(true);
      expect(await stores().artifacts.find(record.artifactId)).to.deep.equal({
        ...record,
        state: "stored",
        storedAt: 2_000,
        expiresAt: 9_000,
      });
      expect(await stores().artifacts.store(record.artifactId, 3_000, FAR), "again").to.equal(false);
      await stores().artifacts.markDeleting(record.artifactId, FAR);
      expect(await stores().artifacts.store(record.artifactId, 3_000, FAR), "one that is deleted").to.equal(false);
      expect(await stores().artifacts.store("art_NONE" as ArtifactId, 1, 1), "none").to.equal(false);
      await stores().artifacts.remove(record.artifactId);
    });

    it("expire later when their upload is extended", async () => {
      const { artifactId } = await begin({ expiresAt: 5 });
      await stores().artifacts.extend(artifactId, 7_000);
      expect(await stores().artifacts.find(artifactId)).to.include({ state: "uploading", expiresAt: 7_000 });
      await stores().artifacts.store(artifactId, 6, 9_000);
      await stores().artifacts.extend(artifactId, FAR);
      expect((await stores().artifacts.find(artifactId))!.expiresAt, "what is stored").to.equal(9_000);
      await stores().artifacts.markDeleting(artifactId, FAR);
      await stores().artifacts.remove(artifactId);
    });

    it("are listed by run and by step, in the order in which their uploads began", async () => {
      const { runId } = await begin({ name: "second", createdAt: 2 });
      const first = await begin({ name: "first", createdAt: 1, runId });
      const other = await begin({ name: "other", createdAt: 3 });
      expect(await namesOf(runId)).to.deep.equal(["first", "second"]);
      const ofSteps = await stores().artifacts.ofSteps([other.stepRunId, newId("step"), first.stepRunId]);
      expect(ofSteps).to.deep.equal([summaryOf(first), summaryOf(other)]);
      expect(await stores().artifacts.ofSteps([])).to.deep.equal([]);
    });

    it("are found when they expire, the earliest first", async () => {
      const [late, early, next] = [
        await begin({ expiresAt: 12 }),
        await begin({ expiresAt: 10 }),
        await begin({ expiresAt: 13 }),
      ];
      const due = async (now: number, limit: number) =>
        (await stores().artifacts.expired(now, limit)).map(({ artifactId }) => artifactId);
      expect(await due(12, 10)).to.deep.equal([early.artifactId, late.artifactId]);
      expect(await due(13, 1)).to.deep.equal([early.artifactId]);
      for (const { artifactId } of [late, early, next]) {
        await stores().artifacts.markDeleting(artifactId, 13);
        await stores().artifacts.remove(artifactId);
      }
      expect(await due(13, 10)).to.deep.equal([]);
    });

    it("are marked as deleting only while they are due, not once they are stored again", async () => {
      const record = await begin({ expiresAt: 10 });
      await stores().artifacts.store(record.artifactId, 9, FAR);
      expect(await stores().artifacts.markDeleting(record.artifactId, 10)).to.equal(false);
      expect((await stores().artifacts.find(record.artifactId))!.state).to.equal("stored");
      expect(await stores().artifacts.markDeleting(record.artifactId, FAR)).to.equal(true);
      expect(await stores().artifacts.markDeleting(record.artifactId, 10), "again, after a crash").to.equal(true);
      const [due] = await stores().artifacts.expired(1, 1);
      expect(due, "what is being deleted is found at once").to.include({
        artifactId: record.artifactId,
        state: "deleting",
      });
      await stores().artifacts.remove(record.artifactId);
      expect(await stores().artifacts.find(record.artifactId)).to.equal(undefined);
      expect(await stores().artifacts.markDeleting(record.artifactId, FAR), "what is gone").to.equal(false);
    });

    it("are removed only after they were marked as deleting", async () => {
      const record = await begin();
      await stores().artifacts.remove(record.artifactId);
      expect(await stores().artifacts.find(record.artifactId)).to.deep.equal(record);
    });
  });
}
