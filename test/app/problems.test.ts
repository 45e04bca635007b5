import { expect } from "chai";
import { z } from "zod";
import { problemsOf, problemText } from "../../src/app/problems.ts";

const shape = z.strictObject({
  name: z.string().min(1),
  count: z.int().min(1, "must be a whole number from 1"),
  env: z.record(z.string(), z.string()),
  kind: z.enum(["a", "b"]),
  nested: z.strictObject({ on: z.boolean() }),
});
const GOOD = { name: "n", count: 1, env: {}, kind: "a", nested: { on: true } };

describe("the problems of a request", () => {
  const codesOf = (value: unknown) =>
    problemsOf(shape.safeParse(value).error!).problems.map((p) => [p.code, p.pointer]);

  it("have one code for each kind of mistake", () => {
    expect(codesOf({ ...GOOD, name: "" })).to.deep.equal([["too_small", "/name"]]);
    expect(codesOf({ ...GOOD, name: 7 })).to.deep.equal([["invalid_type", "/name"]]);
    expect(codesOf({ ...GOOD, kind: "c" })).to.deep.equal([["invalid_value", "/kind"]]);
    expect(codesOf(null)).to.deep.equal([["invalid_type", ""]]);
  });

  it("say of a missing field that it is required", () => {
    const { name, ...rest } = GOOD;
    expect(problemsOf(shape.safeParse(rest).error!).problems).to.deep.equal([
      { code: "required", pointer: "/name", message: "is required" },
    ]);
    expect(name).to.equal("n");
  });

  it("name each unknown field by a pointer of its own", () => {
    expect(codesOf({ ...GOOD, "a/b": 1, c: 2, nested: { on: true, off: false } })).to.have.deep.members([
      ["unknown_key", "/a~1b"],
      ["unknown_key", "/c"],
      ["unknown_key", "/nested/off"],
    ]);
  });

  it("are listed up to 20, with the number of all", () => {
    const unknown = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`k${index}`, 1]));
    const found = problemsOf(shape.safeParse({ ...GOOD, ...unknown, count: 0, env: unknown }).error!);
    expect(found.problems).to.have.length(20);
    expect(found.problemCount).to.equal(1 + 400 + 400);
  });

  it("are all found at once", () => {
    expect(codesOf({ ...GOOD, count: 0, env: { "x~y": 1 } })).to.deep.equal([
      ["too_small", "/count"],
      ["invalid_type", "/env/x~0y"],
    ]);
  });

  it("say where they are, also in a text", () => {
    expect(problemText({ code: "required", pointer: "/name", message: "is required" })).to.equal("/name is required");
    expect(problemText({ code: "invalid_type", pointer: "", message: "is no object" })).to.equal("/ is no object");
  });
});
