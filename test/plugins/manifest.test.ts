import { expect } from "chai";
import { actionOf, isPluginReference } from "../../src/domain/plugins.ts";
import { BUILTIN_ARGS } from "../../src/definition/checks/uses.ts";
import { readManifest } from "../../src/plugins/manifest.ts";

const lines = (...text: readonly string[]): string => `${text.join("\n")}\n`;
const GOOD = lines(
  "name: util/json-patch",
  "version: 1.2.3",
  "actions:",
  "  apply:",
  "    args: { type: object, properties: { file: { type: string } }, required: [file] }",
  "    command: [python3, ./main.py]",
);
const manifestIn = (text: string) => {
  const read = readManifest(text);
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  return read.manifest;
};
const problemsIn = (text: string): readonly string[] => {
  const read = readManifest(text);
  return "problems" in read ? read.problems.map(({ message }) => message) : [];
};

describe("a plugin's manifest", () => {
  it("is read with its defaults, and its only action is the default action", () => {
    expect(manifestIn(GOOD)).to.deep.equal({
      name: "util/json-patch",
      version: "1.2.3",
      description: "",
      actions: {
        apply: {
          description: "",
          args: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
          outputs: [],
          command: ["python3", "./main.py"],
        },
      },
      defaultAction: "apply",
      platforms: [],
    });
  });

  it("may name the image in which its actions run", () => {
    expect(manifestIn(`${GOOD}image: node:22.12\n`)).to.include({ image: "node:22.12" });
  });

  it("has no default action when it has several actions and names none", () => {
    const manifest = manifestIn(GOOD + lines("  test: { command: [./test] }"));
    expect(manifest.defaultAction).to.equal(null);
    expect(actionOf(manifest, "")).to.equal(undefined);
    expect(actionOf(manifest, "test")![1].command).to.deep.equal(["./test"]);
    expect(actionOf(manifest, "constructor")).to.equal(undefined);
  });

  it("may not have the name of a part of every object, or of dots alone", () => {
    for (const name of ["__proto__", "constructor", "team/toString", "hasOwnProperty", "..", "a/../b", "a/."]) {
      expect(problemsIn(GOOD.replace("util/json-patch", name)), name).to.have.length.of.at.least(1);
    }
    expect(problemsIn(GOOD.replace("util/json-patch", "__proto__"))).to.deep.equal([
      'plugin.yaml:1:1: `name` must not contain the reserved name "__proto__"',
    ]);
    expect(problemsIn(GOOD.replace("apply:", "constructor:"))).to.have.length(1);
    expect(problemsIn(GOOD.replace("util/json-patch", "protocol/constructors"))).to.deep.equal([]);
  });

  it("gets every problem with its line and column", () => {
    const text = lines(
      "name: ../elsewhere",
      "version: 2",
      "actons: {}",
      "actions:",
      "  apply:",
      "    comand: [sh]",
      "  9: { command: [sh] }",
      "  test: { command: [] }",
      "platforms: [Linux]",
      "image: Not an image",
    );
    expect(problemsIn(text)).to.deep.equal([
      "plugin.yaml:1:1: `name` must be names of letters, digits, `_`, `-` and `.`, separated by `/`; no name can be `versions`",
      "plugin.yaml:2:1: `version` must be a string: put it in quotes",
      'plugin.yaml:3:1: unknown key "actons" (did you mean "actions"?)',
      "plugin.yaml:5:3: `actions.apply.command` is required",
      'plugin.yaml:6:5: unknown key "comand" (did you mean "command"?)',
      "plugin.yaml:7:3: `actions.9` must begin with a letter or `_`, followed by at most 63 letters, digits, `_` or `-`",
      "plugin.yaml:8:11: `actions.test.command` must name a program",
      "plugin.yaml:9:13: `platforms.0` must be a platform such as linux or linux/x64",
      "plugin.yaml:10:1: `image` must be the reference of an image, such as `node:22.12` or `registry.example/team/tools@sha256:...`",
    ]);
  });

  for (const [what, text, expected] of [
    [
      "another default action",
      `${GOOD}defaultAction: aply\n`,
      'plugin.yaml:7:1: there is no action "aply" (did you mean "apply"?)',
    ],
    ["a key twice", `${GOOD}name: b\n`, 'plugin.yaml:7:1: this map already has the key "name"'],
    [
      "text that is not YAML",
      "name: [",
      "plugin.yaml:1:8: YAML expects a `]` before this: a list in brackets is not closed",
    ],
    ["a list", "- a", "plugin.yaml:1:1: the manifest must be a map"],
    ["no text", "", "plugin.yaml:1:1: the manifest must be a map"],
    [
      "too many bytes",
      `# ${"x".repeat(70_000)}`,
      "plugin.yaml:1:1: a manifest may have 65536 bytes; this one is larger",
    ],
    [
      "too much nesting",
      "[".repeat(60_000),
      "plugin.yaml:1:33: maps and lists may be nested 32 deep; these are deeper",
    ],
  ] as const) {
    it(`is refused with ${what}`, () => {
      expect(problemsIn(text)[0]).to.include(expected);
    });
  }

  for (const [what, schema, expected] of [
    ["of another type", "{ type: strin }", "is not a JSON Schema: /type must be equal to one of the allowed values"],
    ["with an unknown keyword", "{ requird: [a] }", 'cannot be used: strict mode: unknown keyword: "requird"'],
    ["with an unknown reference", "{ $ref: '#/nowhere' }", "cannot be used: can't resolve reference #/nowhere"],
    ["of another dialect", "{ $schema: 'http://json-schema.org/draft-07/schema#' }", "must be of JSON Schema 2020-12"],
    ["that is asynchronous", "{ $async: true }", "must not be asynchronous"],
    ["that is a text", "all", "must be a JSON Schema"],
  ] as const) {
    it(`is refused with a schema ${what}`, () => {
      const text = GOOD.replace(/args: .*/, `args: ${schema}`);
      const [problem, ...others] = problemsIn(text);
      expect(problem)
        .to.match(/^plugin\.yaml:5:5: /)
        .and.include(expected);
      expect(others).to.deep.equal([]);
    });
  }
});

describe("a reference to a plugin", () => {
  it("is never the name of a builtin, with or without its version", () => {
    for (const name of BUILTIN_ARGS.keys()) {
      expect(isPluginReference(name), name).to.equal(false);
      expect(isPluginReference(`${name}@v1`), name).to.equal(false);
    }
    for (const uses of ["", "@1", "a@", "shell", "other"]) expect(isPluginReference(uses), uses).to.equal(false);
    for (const uses of ["a@1", "team/shell@v1", "shell@v2"]) expect(isPluginReference(uses), uses).to.equal(true);
  });
});
