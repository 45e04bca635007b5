import { expect } from "chai";
import { derivedSlug, distinctSlug, isSlug, slugPartOf } from "../../src/domain/names.ts";

describe("slugs", () => {
  it("follow from names of every kind, and are valid", () => {
    const names = [
      "Web shop",
      "  A--b_C! ",
      "日本",
      "Ünïcode 7",
      "x".repeat(80),
      `${"x".repeat(62)} y`,
      "\u212Aelvin K",
    ];
    const slugs = names.map((name) => derivedSlug(name, "project"));
    const expected = ["web-shop", "a-b-c", "project", "n-code-7", "x".repeat(63), "x".repeat(62), "elvin-k"];
    expect(slugs).to.deep.equal(expected);
    for (const slug of slugs) expect(isSlug(slug), slug).to.equal(true);
  });

  it("stay valid with something behind them", () => {
    const long = `${"x".repeat(60)}-yy`;
    for (const part of ["2", slugPartOf("prj_01JDXYZ0123456789ABCDEFGHJ")]) {
      expect(isSlug(distinctSlug(long, part)), part).to.equal(true);
      expect(distinctSlug(long, part).endsWith(`-${part}`)).to.equal(true);
    }
  });
});
