/** The contract of the store of notes. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { NoteKey, StoredNote } from "../../src/stores/ports/outputs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

const ROOM = 1_000_000;

export function noteStoreContract(open: () => Stores): void {
  describe("notes", () => {
    const sample = (fields: Partial<StoredNote> = {}): StoredNote => ({
      runId: newId("run"),
      kind: "annotations",
      stepRunId: newId("step"),
      token: 1,
      part: 0,
      body: '{"list":["a.b $c \\u0000 é"],"leftOut":1}',
      ...fields,
    });
    const keyOf = ({ body: _body, ...key }: StoredNote): NoteKey => key;

    it("are found by all parts of their key", async () => {
      const note = sample();
      const others = [sample({ runId: note.runId }), { ...note, part: 1 }, { ...note, token: 2 }];
      for (const one of [note, ...others]) expect(await open().notes.put(one, ROOM)).to.equal("stored");
      expect(await open().notes.find([keyOf(note)])).to.deep.equal([note]);
      const unknown = [{ ...keyOf(note), kind: "summary" as const }, { ...keyOf(note), part: 2 }, keyOf(sample())];
      expect(await open().notes.find(unknown)).to.deep.equal([]);
      expect(await open().notes.find([])).to.deep.equal([]);
      expect(await open().notes.find([note, ...others].map(keyOf))).to.have.deep.members([note, ...others]);
    });

    it("are listed by run and kind without their bodies", async () => {
      const runId = newId("run");
      const notes = [sample({ runId }), sample({ runId, part: 3 }), sample({ runId, kind: "summary" }), sample()];
      for (const note of notes) await open().notes.put(note, ROOM);
      const places = notes.slice(0, 2).map((note) => ({ ...keyOf(note), bytes: Buffer.byteLength(note.body) }));
      expect(await open().notes.placesOf(runId, "annotations")).to.have.deep.members(places);
      expect(await open().notes.placesOf(runId, "cases")).to.deep.equal([]);
    });

    it("never change, and are those of exactly one of many concurrent reports", async () => {
      const note = sample();
      const bodies = Array.from({ length: 10 }, (_, at) => ({ ...note, body: `[${at}]` }));
      await Promise.all(bodies.map((one) => open().notes.put(one, ROOM)));
      const [kept] = await open().notes.find([keyOf(note)]);
      expect(bodies).to.deep.include(kept);
      expect(await open().notes.put({ ...note, body: "[11]" }, ROOM)).to.equal("stored");
      expect(await open().notes.find([keyOf(note)])).to.deep.equal([kept]);
    });

    it("of one kind stay within the bound of the run, and repeats do not count", async () => {
      const runId = newId("run");
      const put = (note: StoredNote) => open().notes.put(note, 100);
      const full = sample({ runId, body: `"${"x".repeat(58)}"` });
      expect(await put(full)).to.equal("stored");
      expect(await put({ ...full, token: 2 })).to.equal("full");
      expect(await put(full), "a repeat").to.equal("stored");
      expect(await put(sample({ runId, kind: "summary", body: `"${"y".repeat(98)}"` }))).to.equal("stored");
      expect(await put(sample({ runId, body: `"${"é".repeat(19)}"` }))).to.equal("stored");
      expect(await put(sample({ runId, body: "0" }))).to.equal("full");
    });
  });
}
