import { expect } from "chai";
import { didYouMean, nearest } from "../../src/expressions/nearest.ts";

describe("the nearest word", () => {
  it("is the known word with the fewest edits, in any case", () => {
    expect(nearest("sucess", ["failed", "success", "cancelled"])).to.equal("success");
    expect(nearest("Build", ["build", "built"])).to.equal("build");
    expect(nearest("setps", ["stages", "steps"])).to.equal("steps");
  });

  it("does not exist when all words differ too much, or there are too many", () => {
    expect(nearest("deploy", ["build", "test"])).to.equal(undefined);
    expect(nearest("a", ["b"])).to.equal(undefined);
    expect(nearest("x".repeat(65), [`${"x".repeat(64)}y`])).to.equal(undefined);
    expect(nearest("word", Array(1_001).fill("words"))).to.equal(undefined);
  });

  it("becomes a question, or an empty text", () => {
    expect(didYouMean("setp", ["step"])).to.equal(' (did you mean "step"?)');
    expect(didYouMean("setp", [])).to.equal("");
  });
});
