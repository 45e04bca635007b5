/** A test of how mocha loads modules. */
import { createRequire } from "node:module";
import { sep } from "node:path";
import { expect } from "chai";

describe("mocha", () => {
  it("loads every module of the project exactly once, as an ES module", () => {
    const required = Object.keys(createRequire(import.meta.url).cache);
    expect(required.filter((file) => !file.includes(`${sep}node_modules${sep}`))).to.deep.equal([]);
  });
});
