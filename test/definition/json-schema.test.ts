import { Ajv, type ValidateFunction } from "ajv";
import { expect } from "chai";
import { parse } from "yaml";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../../src/definition/text/diagnostics.ts";
import { definitionJsonSchema } from "../../src/definition/json-schema.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import { type CorpusCase, readCorpus } from "./corpus.ts";

/** Codes of texts that have no value to check: an editor itself reports such texts. */
const TEXT: readonly DiagnosticCode[] = ["alias-limit", "depth-limit", "size-limit", "syntax"];
/** The JSON Schema always finds errors of these codes. */
const SHAPE: readonly DiagnosticCode[] = [
  "invalid-selector",
  "invalid-type",
  "invalid-uses",
  "missing-key",
  "not-a-map",
  "removed-key",
  "reserved-key",
  "unknown-key",
];
/** The JSON Schema finds most errors of these codes: `schema accepts` in the corpus marks the others. */
const PARTLY: readonly DiagnosticCode[] = [
  "duplicate-key",
  "invalid-args",
  "invalid-duration",
  "invalid-event",
  "invalid-input",
  "invalid-matrix",
  "jobs-or-stages",
  "invalid-notification",
  "invalid-retry",
  "invalid-source",
  "invalid-value",
];
/** Only the validator finds errors of these codes: names, expressions, sums, and meanings of words. */
const MEANING: readonly DiagnosticCode[] = [
  "constant-condition",
  "cyclic-include",
  "cyclic-needs",
  "duplicate-name",
  "expression-limit",
  "expression-misplaced",
  "expression-syntax",
  "include-limit",
  "inexact-number",
  "invalid-approval",
  "invalid-call",
  "invalid-container",
  "invalid-cron",
  "invalid-image",
  "invalid-include",
  "invalid-path",
  "invalid-pattern",
  "matrix-limit",
  "moving-image",
  "needs-limit",
  "script-injection",
  "step-limit",
  "type-mismatch",
  "undefined-value",
  "unknown-context",
  "unknown-function",
  "unknown-job",
  "unknown-property",
  "unknown-step",
  "unknown-word",
];
/** Reported about a text as a whole, when a run is planned, or when the registry of plugins is known. */
const ELSEWHERE: readonly DiagnosticCode[] = [
  "container-required",
  "diagnostic-limit",
  "evaluation-failed",
  "no-hook",
  "plan-limit",
  "snapshot-limit",
  "unknown-action",
  "unknown-plugin",
  "unknown-plugin-version",
];

const CORPUS = readCorpus();

describe("the corpus", () => {
  it("has at least 150 bad and 50 good definitions, each with a title of its own", () => {
    const good = CORPUS.filter(({ expected }) => !expected.some((line) => line.startsWith("error")));
    expect(good.length).to.be.at.least(50);
    expect(CORPUS.length - good.length).to.be.at.least(150);
    expect(new Set(CORPUS.map(({ title }) => title)).size).to.equal(CORPUS.length);
  });

  it("has two definitions for each code that the validator reports", () => {
    const codes = CORPUS.flatMap(({ expected }) => [...new Set(expected.map((line) => line.split(" ")[1]))]);
    const rare = DIAGNOSTIC_CODES.filter((code) => codes.filter((one) => one === code).length < 2);
    expect(rare).to.have.members(ELSEWHERE);
  });

  for (const { title, text, format, includes, expected } of CORPUS) {
    it(`has its diagnostics at the right places: ${title}`, () => {
      const { diagnostics } = parseDefinition(text, format, { includes });
      expect(
        diagnostics.map(
          ({ severity, code, file, line, column }) =>
            `${severity} ${code} ${file === undefined ? "" : `${file}:`}${line}:${column}`,
        ),
        diagnostics.map(({ message }) => message).join("\n"),
      ).to.deep.equal(expected);
    });
  }
});

describe("the JSON Schema", () => {
  let accepts: ValidateFunction;
  before(() => {
    accepts = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true }).compile(
      definitionJsonSchema(),
    );
  });

  it("is compared with the validator for every code", () => {
    const known = [...TEXT, ...SHAPE, ...PARTLY, ...MEANING, ...ELSEWHERE];
    expect(known.toSorted()).to.deep.equal([...DIAGNOSTIC_CODES].toSorted());
  });

  it("defines every kind of map once, under a name of its own", () => {
    const names = Object.keys(definitionJsonSchema()["definitions"] as object);
    expect(names).to.include.members(["job", "step", "approval", "shellArgs", "environment"]);
    // The library gives such names to definitions without a name of their own.
    expect(names.filter((name) => name.startsWith("__"))).to.deep.equal([]);
  });

  for (const each of CORPUS) {
    const codes = codesOf(each);
    if (TEXT.some((code) => codes.has(code))) continue;
    const refuses = [...SHAPE, ...(each.schemaAccepts ? [] : PARTLY)].some((code) => codes.has(code));
    it(`${refuses ? "refuses" : "accepts"} ${each.title}`, () => {
      accepts(valueOf(each));
      expect(accepts.errors === null, JSON.stringify(accepts.errors)).to.equal(!refuses);
    });
  }
});

/** Codes of errors and warnings that are expected in the definition itself: the schema knows no included files. */
function codesOf({ expected }: CorpusCase): ReadonlySet<DiagnosticCode> {
  const own = expected.map((line) => line.split(" ")).filter(([, , place = ""]) => /^\d+:\d+$/.test(place));
  return new Set(own.map(([, code]) => code as DiagnosticCode));
}

/** The value as an editor reads it; an editor reports duplicate keys by itself. */
function valueOf({ text, format }: CorpusCase): unknown {
  return format === "json" ? JSON.parse(text) : parse(text, { stringKeys: true, uniqueKeys: false });
}
