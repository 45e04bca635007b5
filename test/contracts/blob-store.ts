/** The contract of the store of blobs. Run over each engine by `stores.test.ts`. */
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { artifactIdOf, newId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

const LAST_BYTES = 1_000;

/** `others`: the same blobs as another process sees them. */
export function blobStoreContract(
  stores: () => Pick<Stores, "blobs">,
  others: () => Pick<Stores, "blobs"> = stores,
): void {
  describe("blobs", () => {
    const content = randomBytes(2 * PIECE_BYTES + LAST_BYTES);
    const pieces = [0, 1, 2].map((n) => content.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES));
    let blobId: string;
    beforeEach(() => void (blobId = artifactIdOf(newId("run"), newId("step"), 1, "blob")));

    const put = (n: number, piece: Uint8Array = pieces[n]!) => stores().blobs.put(blobId, n * PIECE_BYTES, piece);
    const putAll = async (): Promise<void> => {
      for (const n of pieces.keys()) expect(await put(n)).to.equal("stored");
    };
    const readAll = async (): Promise<Buffer> => {
      const read: Uint8Array[] = [];
      for (let offset = 0; ;) {
        const bytes = await stores().blobs.read(blobId, offset, PIECE_BYTES);
        if (bytes.length === 0) return Buffer.concat(read);
        read.push(bytes);
        offset += bytes.length;
      }
    };

    it("have the bytes that were put", async () => {
      await putAll();
      expect(await stores().blobs.complete(blobId, content.length)).to.equal("complete");
      expect((await readAll()).equals(content)).to.equal(true);
    });

    it("are read from any offset, at most one piece at a time", async () => {
      await putAll();
      const { blobs } = stores();
      await blobs.complete(blobId, content.length);
      const part = async (offset: number, length: number) => Buffer.from(await blobs.read(blobId, offset, length));
      expect((await part(5, 20)).equals(content.subarray(5, 25))).to.equal(true);
      expect((await part(PIECE_BYTES + 7, 1)).equals(content.subarray(PIECE_BYTES + 7, PIECE_BYTES + 8))).to.equal(
        true,
      );
      expect(await part(0, 10 * PIECE_BYTES)).to.have.length(PIECE_BYTES);
      expect(await part(2 * PIECE_BYTES, PIECE_BYTES)).to.have.length(LAST_BYTES);
      expect(await part(content.length, 10)).to.have.length(0);
    });

    it("refuse a piece while the piece before it is missing", async () => {
      expect(await put(1)).to.equal("gap");
      expect(await stores().blobs.storedBytes(blobId)).to.equal(0);
      await put(0);
      expect(await put(2)).to.equal("gap");
      expect(await put(1)).to.equal("stored");
      expect(await stores().blobs.storedBytes(blobId)).to.equal(2 * PIECE_BYTES);
    });

    it("can be continued by any caller, and repeated pieces change nothing", async () => {
      expect(await stores().blobs.storedBytes(blobId)).to.equal(0);
      await Promise.all([put(0), put(0), put(0)]);
      expect(await stores().blobs.storedBytes(blobId)).to.equal(PIECE_BYTES);
      await Promise.all([put(1), put(0), put(1)]);
      await Promise.all([put(2), put(1), put(2)]);
      expect(await stores().blobs.storedBytes(blobId)).to.be.oneOf([2 * PIECE_BYTES, 3 * PIECE_BYTES]);
      expect(await stores().blobs.complete(blobId, content.length)).to.equal("complete");
      expect((await readAll()).equals(content)).to.equal(true);
    });

    it("can be continued by another process after a flush", async () => {
      await put(0);
      await put(1);
      await stores().blobs.flush(blobId);
      const { blobs } = others();
      expect(await blobs.storedBytes(blobId)).to.equal(2 * PIECE_BYTES);
      expect(await blobs.put(blobId, 2 * PIECE_BYTES, pieces[2]!)).to.equal("stored");
      expect(await blobs.complete(blobId, content.length)).to.equal("complete");
      expect((await readAll()).equals(content)).to.equal(true);
      await stores().blobs.flush(blobId);
    });

    it("are complete only with all of their bytes", async () => {
      const { blobs } = stores();
      const complete = (sizeBytes: number) => blobs.complete(blobId, sizeBytes);
      expect(await complete(content.length), "nothing is there").to.equal("incomplete");
      await put(0);
      expect(await complete(content.length), "a piece is there").to.equal("incomplete");
      await put(1);
      expect(await complete(content.length), "the last one is not").to.equal("incomplete");
      await put(2);
      expect(await complete(content.length - 1), "one byte is too many").to.equal("incomplete");
      expect(await complete(PIECE_BYTES), "a piece is too many").to.equal("incomplete");
      expect(await complete(content.length)).to.equal("complete");
      expect(await complete(content.length), "again").to.equal("complete");
      expect(await put(0), "late").to.equal("stored");
      expect(await put(2), "late, the last").to.equal("stored");
      expect((await readAll()).equals(content)).to.equal(true);
      expect(await blobs.storedBytes(blobId)).to.be.oneOf([2 * PIECE_BYTES, 3 * PIECE_BYTES]);
    });

    it("can be completed by several callers at once", async () => {
      await putAll();
      const completed = await Promise.all([1, 2, 3].map(() => stores().blobs.complete(blobId, content.length)));
      expect(completed).to.deep.equal(["complete", "complete", "complete"]);
    });

    it("may end with a whole piece", async () => {
      await put(0);
      await put(1);
      expect(await stores().blobs.complete(blobId, 2 * PIECE_BYTES)).to.equal("complete");
      expect((await readAll()).equals(content.subarray(0, 2 * PIECE_BYTES))).to.equal(true);
    });

    it("are deleted, complete or not, and a repeat changes nothing", async () => {
      const { blobs } = stores();
      for (const isComplete of [false, true]) {
        await putAll();
        if (isComplete) await blobs.complete(blobId, content.length);
        await blobs.delete(blobId);
        expect(await blobs.storedBytes(blobId)).to.equal(0);
        expect(await readAll()).to.have.length(0);
        expect(await put(1)).to.equal("gap");
        await blobs.delete(blobId);
      }
    });

    it("do not share their bytes", async () => {
      const other = artifactIdOf(newId("run"), newId("step"), 1, "other");
      await putAll();
      await stores().blobs.put(other, 0, Buffer.from("other"));
      await stores().blobs.complete(other, 5);
      await stores().blobs.delete(blobId);
      expect(Buffer.from(await stores().blobs.read(other, 0, 100)).toString()).to.equal("other");
    });
  });
}
