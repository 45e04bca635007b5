/** Checks that docs/definition.md and docs/diagnostics.md agree with the code: every example runs, every table is compared. */
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { DIAGNOSTIC_CODES } from "../../src/definition/text/diagnostics.ts";
import { LIMITS } from "../../src/definition/schema/limits.ts";
import { MAX_PLAN_WORK } from "../../src/domain/work/work-budget.ts";
import { MAX_EVALUATION_WORK, MAX_JSON_DEPTH, MAX_TEXT_CHARS } from "../../src/expressions/bounds.ts";
import { toScope } from "../../src/expressions/context-data.ts";
import { FUNCTIONS, STATUS_FUNCTIONS } from "../../src/expressions/functions.ts";
import { evaluateTemplate, parseTemplate } from "../../src/expressions/template.ts";
import { SNAPSHOT_BYTES } from "../../src/stores/mongo/packed-snapshots.ts";
import { deriveDefinitionPage, examplesIn, titlesIn } from "../support/definition-page.ts";
import { deriveDiagnosticsPage, diagnose, readSections } from "../support/diagnostics-page.ts";
import { KEYED_MAPS, typeOf } from "../support/keyed-maps.ts";
import { readTable } from "../support/markdown-table.ts";

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const [LANGUAGE, DIAGNOSTICS] = [read("definition.md"), read("diagnostics.md")];

describe("the page of diagnostics", () => {
  const sections = readSections(DIAGNOSTICS);

  it("has one section for each code, in the order of the alphabet", () => {
    expect(sections.map(({ code }) => code)).to.deep.equal(DIAGNOSTIC_CODES.toSorted());
  });

  for (const { code, bad, good } of sections) {
    it(`has an example of ${code} alone, and one without it`, () => {
      const codes = new Set(diagnose(code, bad).map((each) => each.code));
      expect([...codes]).to.include(code);
      if (!bad.isGenerated) expect([...codes]).to.deep.equal([code]);
      expect(diagnose(code, { ...bad, text: good, format: "yaml" })).to.deep.equal([]);
    });
  }

  it("prints what the command line prints (else run `npm run generate`)", () => {
    expect(deriveDiagnosticsPage(DIAGNOSTICS)).to.equal(DIAGNOSTICS);
  });

  it("has every example in a section", () => {
    const generated = sections.filter(({ bad }) => bad.isGenerated);
    expect(DIAGNOSTICS.match(/^```(?:yaml|json)/gm)).to.have.length(2 * sections.length - generated.length);
  });
});

describe("the page of the language", () => {
  const examples = examplesIn(LANGUAGE);

  for (const { line, text } of examples) {
    it(`has a valid example in line ${line}`, () => {
      expect(diagnose("", { text, format: "yaml", isPlanned: false })).to.deep.equal([]);
    });
  }

  it("has no example that this test does not run", () => {
    expect(LANGUAGE.match(/^```/gm)).to.have.length(2 * examples.length);
  });

  it("has a table for every kind of map", () => {
    expect(titlesIn(LANGUAGE)).to.have.members([...KEYED_MAPS.keys()]);
  });

  it("has the keys, types and places of the code (else run `npm run generate`)", () => {
    expect(deriveDefinitionPage(LANGUAGE)).to.equal(LANGUAGE);
  });

  it("has a meaning for every key", () => {
    for (const [title, { schema, definitions }] of KEYED_MAPS) {
      for (const [key, value] of Object.entries(schema.properties ?? {})) {
        expect(typeOf(value as typeof schema, definitions).meaning, `${key} of ${title}`).not.to.equal("");
      }
    }
  });

  it("has the limits of the code, in its order", () => {
    const numbers = readTable(under(LANGUAGE, "Limits")).map(([, most]) => Number(most!.replaceAll(/\D/g, "")));
    expect(numbers).to.deep.equal([
      ...Object.values(LIMITS),
      SNAPSHOT_BYTES,
      MAX_TEXT_CHARS,
      MAX_JSON_DEPTH,
      MAX_EVALUATION_WORK,
      MAX_PLAN_WORK,
    ]);
  });

  it("names only existing diagnostics", () => {
    const named = readTable(under(LANGUAGE, "Limits")).flatMap(([, , code]) =>
      code === "" ? [] : [code!.slice(1, -1)],
    );
    expect(DIAGNOSTIC_CODES).to.include.members(named);
  });

  it("has an example of every function, with its result", () => {
    const rows = readTable(under(LANGUAGE, "Functions"));
    for (const [call, gives] of rows) {
      const template = parseTemplate(`\${{ ${call!.slice(1, -1)} }}`, []);
      expect(template.problems, call).to.deep.equal([]);
      expect(JSON.stringify(evaluateTemplate(template, toScope({}))), call).to.equal(gives!.slice(1, -1));
    }
    const calls = rows.map(([call]) => call!.slice(1, call!.indexOf("(")));
    expect([...new Set(calls)]).to.have.members([...FUNCTIONS]);
    const conditions = readTable(under(LANGUAGE, "Conditions")).map(([name]) => name);
    expect(conditions).to.deep.equal(STATUS_FUNCTIONS.map((name) => `\`${name}()\``));
  });
});

/** The part of a page between a heading and the next one. */
function under(page: string, heading: string): string {
  return page.slice(page.indexOf(`# ${heading}\n`)).split(/\n#+ /)[0]!;
}
