import { expect } from "chai";
import { Holds } from "../../../src/domain/work/holds.ts";

describe("holds", () => {
  it("count how often each key is held, and a hold that is given back twice counts once", () => {
    const holds = new Holds();
    const [first, second, other] = [holds.hold("a"), holds.hold("a"), holds.hold("b")];
    expect([holds.size, holds.count("a"), holds.count("b"), holds.count("c")]).to.deep.equal([2, 2, 1, 0]);
    first();
    first();
    expect([holds.has("a"), holds.count("a")]).to.deep.equal([true, 1]);
    second();
    other();
    expect([holds.size, holds.has("a"), holds.count("a")]).to.deep.equal([0, false, 0]);
  });
});
