import { expect } from "chai";
import { z } from "zod";
import { fields, id, listOf, mapOf, shape, wholeNumber } from "../../src/app/shapes.ts";

describe("the shape of an answer", () => {
  it("makes its fields once, when something first reads or describes it", () => {
    let made = 0;
    const inner = fields(() => ({ count: (made++, wholeNumber) }));
    const outer = shape("LazyShapeOfTheTest", () => ({ list: listOf(inner), byName: mapOf(id()) }));
    expect(made).to.equal(0);
    const value = { list: [{ count: 1 }, { count: 2 }], byName: { one: "id" } };
    expect(outer.parse(value)).to.deep.equal(value);
    expect(z.globalRegistry.get(outer)).to.deep.equal({ id: "LazyShapeOfTheTest" });
    expect(JSON.stringify(z.toJSONSchema(outer))).to.include("byName");
    expect(made).to.equal(1);
  });

  it("has exactly its fields", () => {
    const one = fields(() => ({ count: wholeNumber }));
    expect(one.safeParse({ count: 1, more: 1 }).success).to.equal(false);
    expect(one.safeParse({}).success).to.equal(false);
  });
});
