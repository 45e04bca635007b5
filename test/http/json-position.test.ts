import { expect } from "chai";
import fc from "fast-check";
import { jsonErrorOffset } from "../../src/http/request/json-position.ts";

describe("the place where a text stops being JSON", () => {
  it("is the end of a text that is JSON or ends between two tokens", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(jsonErrorOffset(text)).to.equal(text.length);
      }),
    );
    for (const text of ["", "[", '{"a"', '{"a":', "[1,", '{"a":1,', "  [ "])
      expect(jsonErrorOffset(text)).to.equal(text.length);
  });

  it("is at the first mistake of a text that no ending makes valid", () => {
    const cases: readonly (readonly [string, number])[] = [
      ["[1,]", 3],
      ["{} {}", 3],
      ['{"a" 1}', 5],
      ["{1:2}", 1],
      ["[}", 1],
      ["01", 1],
      ['{"a":tru}', 5],
      ['["\\q"]', 1],
      ["[\u00001]", 1],
      ["]", 0],
    ];
    for (const [text, offset] of cases) expect(jsonErrorOffset(text), text).to.equal(offset);
  });

  it("is found in texts of 4 MB without exhausting the stack", () => {
    const long = "x".repeat(4_000_000);
    expect(jsonErrorOffset(`["${long}" 1]`)).to.equal(long.length + 4);
    expect(jsonErrorOffset(`["${"\\n".repeat(2_000_000)}" 1]`)).to.equal(4_000_004);
    expect(jsonErrorOffset("[".repeat(4_000_000))).to.equal(4_000_000);
  });
});
