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

  it("say in the words of the API what a value must be, and keep the words of a schema", () => {
    const bounded = z.strictObject({
      days: z.int().min(1).max(30).default(1),
      list: z.array(z.string()).max(2).default([]),
      text: z.string().min(1).max(3).default("a"),
      kind: z.enum(["a", "b"]).default("a"),
      only: z.literal("x").default("x"),
      either: z.union([z.string(), z.int()]).default(1),
      own: z.string("must be a name").default("a"),
    });
    const messageOf = (value: object) => problemsOf(bounded.safeParse(value).error!).problems.map(problemText);
    const expected: readonly (readonly [object, string])[] = [
      [{ days: 99 }, "/days must be at most 30"],
      [{ days: 0 }, "/days must be at least 1"],
      [{ days: 1.5 }, "/days must be a whole number"],
      [{ days: "1" }, "/days must be a number"],
      [{ list: ["a", "b", "c"] }, "/list must have at most 2 entries"],
      [{ list: {} }, "/list must be a list"],
      [{ text: "" }, "/text must have at least 1 character"],
      [{ text: "abcd" }, "/text must have at most 3 characters"],
      [{ kind: "c" }, '/kind must be one of "a", "b"'],
      [{ only: "y" }, '/only must be "x"'],
      [{ either: null }, "/either has none of the forms that are allowed here"],
      [{ own: 1 }, "/own must be a name"],
    ];
    for (const [value, text] of expected) expect(messageOf(value), JSON.stringify(value)).to.deep.equal([text]);
    expect(problemsOf(bounded.safeParse([]).error!).problems.map(problemText)).to.deep.equal(["/ must be an object"]);
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
