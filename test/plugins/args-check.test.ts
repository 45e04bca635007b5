import { expect } from "chai";
import type { ArgsPath, JsonSchema } from "../../src/domain/plugins.ts";
import { checkArgs } from "../../src/plugins/args-check.ts";

const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    file: { type: "string", minLength: 2 },
    mode: { enum: ["merge", "patch"] },
    patch: { type: "array", minItems: 1, items: { $ref: "#/$defs/change" } },
    "a/b": { type: "number" },
    either: { anyOf: [{ type: "string" }, { type: "object", required: ["x"] }] },
  },
  required: ["file"],
  additionalProperties: false,
  if: { properties: { mode: { const: "patch" } }, required: ["mode"] },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  then: { required: ["patch"] },
  $defs: { change: { type: "object", required: ["op"], properties: { op: { type: "string" } } } },
};
/** The problems, where a text with `${{` is a deferred argument. */
const problemsOf = (args: unknown, schema: JsonSchema | null = SCHEMA): readonly string[] => {
  const isDeferred = (path: ArgsPath): boolean => {
    let value = args;
    for (const part of path) value = (value as Record<string | number, unknown>)[part];
    return typeof value === "string" && value.includes("${{");
  };
  return checkArgs(schema, args, isDeferred).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("arguments of a plugin", () => {
  it("that fit the schema have no problems", () => {
    expect(problemsOf({ file: "a.json", mode: "patch", patch: [{ op: "add" }], "a/b": 1, either: "x" })).to.deep.equal(
      [],
    );
    expect(problemsOf("anything", null)).to.deep.equal([]);
    expect(problemsOf({}, true)).to.deep.equal([]);
    expect(problemsOf({}, false)).to.deep.equal([": must not be given"]);
  });

  it("get all problems with their places, and never with their values", () => {
    const args = { file: 7, mode: "hunter2", patch: [{}, "hunter2"], "a/b": "hunter2", fil: "hunter2" };
    const problems = problemsOf(args);
    expect(problems).to.have.members([
      "fil: is not known",
      "file: must be string",
      'mode: must be one of "merge", "patch"',
      'patch.0: must have "op"',
      "patch.1: must be object",
      "a/b: must be number",
    ]);
    expect(problems.join()).not.to.include("hunter2");
    expect(problemsOf({})).to.deep.equal([': must have "file"']);
  });

  it("that are deferred are not checked, but certain problems are reported", () => {
    expect(problemsOf({ file: "${{ x }}", mode: "${{ x }}", patch: "${{ x }}", "a/b": "${{ x }}" })).to.deep.equal([]);
    expect(problemsOf({ file: "${{ x }}", mode: "neither", other: "${{ x }}" })).to.deep.equal([
      "other: is not known",
      'mode: must be one of "merge", "patch"',
    ]);
    expect(problemsOf({ mode: "${{ x }}" })).to.deep.equal([': must have "file"']);
  });

  it("that depend on a deferred argument are not checked", () => {
    expect(problemsOf({ file: "ab", mode: "patch" }), "known").to.include(': must have "patch"');
    expect(problemsOf({ file: "ab", mode: "${{ x }}" })).to.deep.equal([]);
    expect(problemsOf({ file: "ab", either: { y: "${{ x }}" } })).to.deep.equal([]);
  });
});
