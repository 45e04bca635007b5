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
/** What `${{ ... }}` in a text would be. */
const told = (args: unknown, schema: JsonSchema | null = SCHEMA): readonly string[] => {
  const isDeferred = (path: ArgsPath): boolean => {
    let value = args;
    for (const part of path) value = (value as Record<string | number, unknown>)[part];
    return typeof value === "string" && value.includes("${{");
  };
  return checkArgs(schema, args, isDeferred).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("arguments of a plugin", () => {
  it("that fit break nothing", () => {
    expect(told({ file: "a.json", mode: "patch", patch: [{ op: "add" }], "a/b": 1, either: "x" })).to.deep.equal([]);
    expect(told("anything", null)).to.deep.equal([]);
    expect(told({}, true)).to.deep.equal([]);
    expect(told({}, false)).to.deep.equal([": must not be given"]);
  });

  it("are told all that is wrong by its place, and never with what they hold", () => {
    const args = { file: 7, mode: "hunter2", patch: [{}, "hunter2"], "a/b": "hunter2", fil: "hunter2" };
    const problems = told(args);
    expect(problems).to.have.members([
      "fil: is not known",
      "file: must be string",
      'mode: must be one of "merge", "patch"',
      'patch.0: must have "op"',
      "patch.1: must be object",
      "a/b: must be number",
    ]);
    expect(problems.join()).not.to.include("hunter2");
    expect(told({})).to.deep.equal([': must have "file"']);
  });

  it("that are not known yet are not judged, and what is certain all the same is told", () => {
    expect(told({ file: "${{ x }}", mode: "${{ x }}", patch: "${{ x }}", "a/b": "${{ x }}" })).to.deep.equal([]);
    expect(told({ file: "${{ x }}", mode: "neither", other: "${{ x }}" })).to.deep.equal([
      "other: is not known",
      'mode: must be one of "merge", "patch"',
    ]);
    expect(told({ mode: "${{ x }}" })).to.deep.equal([': must have "file"']);
  });

  it("are not judged by what hangs on one that is not known", () => {
    expect(told({ file: "ab", mode: "patch" }), "known").to.include(': must have "patch"');
    expect(told({ file: "ab", mode: "${{ x }}" })).to.deep.equal([]);
    expect(told({ file: "ab", either: { y: "${{ x }}" } })).to.deep.equal([]);
  });
});
