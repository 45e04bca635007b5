import { expect } from "chai";
import { fromPointer, isWithin, toPointer } from "../../src/domain/json-pointer.ts";

describe("JSON pointers", () => {
  const PAIRS: readonly (readonly [readonly PropertyKey[], string])[] = [
    [[], ""],
    [[""], "/"],
    [["jobs", 0, "env"], "/jobs/0/env"],
    [["a/b", "m~n", "~1"], "/a~1b/m~0n/~01"],
  ];

  it("are written as RFC 6901 has them, and read back", () => {
    for (const [path, pointer] of PAIRS) {
      expect(toPointer(path)).to.equal(pointer);
      expect(fromPointer(pointer)).to.deep.equal(path.map(String));
    }
  });

  it("contain a place and what is inside it, and no place whose name begins alike", () => {
    expect(isWithin("/args/env", "/args/env")).to.equal(true);
    expect(isWithin("/args/env/A", "/args/env")).to.equal(true);
    expect(isWithin("/args/environment", "/args/env")).to.equal(false);
    expect(isWithin("/args", "/args/env")).to.equal(false);
    expect(isWithin("/args", "")).to.equal(true);
  });
});
