/** The patterns that texts of callers are matched with: none takes long for a text that was made to take long. */
import { expect } from "chai";
import { deriveOpenApi } from "../support/openapi-document.ts";

/** A body has 64 kB, unless its route says otherwise. */
const CHARS = 20_000;
/** A pattern that backtracks needs minutes for all of this, or does not end; the others need some milliseconds. */
const WITHIN_MS = 5_000;

describe("the patterns of the API", () => {
  it("take no longer for texts that make patterns backtrack", () => {
    const found = [...deriveOpenApi().matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g)];
    const patterns = [...new Set(found.map(([, text]) => JSON.parse(text!) as string))];
    expect(patterns).to.have.length.of.at.least(5);
    const parts = ["a", "0", ".", "-", "a.", "a-", "_", " ", "/", "a/", ";", "@", "a@", "+", "0-", "a@a.", "\ud83d"];
    const start = performance.now();
    for (const pattern of patterns) {
      for (const part of parts) {
        for (const end of ["", "!", "\n", "@"]) {
          const text = part.repeat(CHARS / part.length) + end;
          new RegExp(pattern, "u").test(text);
          const passed = performance.now() - start;
          expect(passed, `${pattern} for ${JSON.stringify(part)}, again and again`).to.be.lessThan(WITHIN_MS);
        }
      }
    }
  });
});
