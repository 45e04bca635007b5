import { expect } from "chai";
import fc from "fast-check";
import { jsonInPieces } from "../../src/stores/format/json-in-pieces.ts";

const read = (text: string) => jsonInPieces<unknown>(text, "jobs", async () => {});

describe("JSON that is parsed in pieces", () => {
  it("is what JSON.parse makes of it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 250 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        async (before, jobs, after) => {
          const text = JSON.stringify({ ...before, jobs, ...after, jobsAfter: 1 });
          expect(await read(text)).to.deep.equal(JSON.parse(text));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("may have the name of the array within a text and within another value, and may lack it", async () => {
    for (const value of [
      { a: '"jobs":[1,2', b: { jobs: [3] }, jobs: [{ jobs: [4] }, "]", "\\", '\\"'] },
      { a: { jobs: [3] } },
      { jobs: [] },
      {},
      { jobs: null },
    ])
      expect(await read(JSON.stringify(value))).to.deep.equal(value);
  });
});
