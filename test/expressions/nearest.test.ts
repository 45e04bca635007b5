import { expect } from "chai";
import { didYouMean, nearest } from "../../src/expressions/nearest.ts";

describe("the nearest word", () => {
  it("is the known one with the fewest edits, without case", () => {
    expect(nearest("sucess", ["failed", "success", "cancelled"])).to.equal("success");
    expect(nearest("Build", ["build", "built"])).to.equal("build");
    expect(nearest("setps", ["stages", "steps"])).to.equal("steps");
  });

  it("is none when too much differs, or there is too much to compare", () => {
    expect(nearest("deploy", ["build", "test"])).to.equal(undefined);
    expect(nearest("a", ["b"])).to.equal(undefined);
    expect(nearest("x".repeat(65), [`${"x".repeat(64)}y`])).to.equal(undefined);
    expect(nearest("word", Array(1_001).fill("words"))).to.equal(undefined);
  });

  it("is put as a question, or not at all", () => {
    expect(didYouMean("setp", ["step"])).to.equal(' (did you mean "step"?)');
    expect(didYouMean("setp", [])).to.equal("");
  });
});
