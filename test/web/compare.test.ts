/** What the comparison of runs, the fields of settings and the saved filters say, without a browser. */
import { expect } from "chai";
import fc from "fast-check";
import { fieldsOf, readFields, settingText } from "../../web/src/areas/setting-values.ts";
import { alignLogs, masked, shownRows } from "../../web/src/compare/align-logs.ts";
import { isLonger, pairRows, rowToShow } from "../../web/src/compare/pair-runs.ts";
import type { Job, Step } from "../../web/src/run/run-view.ts";

const log = (...texts: readonly string[]) => texts.map((text, at) => ({ line: at + 1, text }));

const step = (name: string, more: Partial<Step> = {}): Step =>
  ({
    stepRunId: `step ${name}`,
    name,
    status: "success",
    exitCode: 0,
    retriedBy: null,
    startTime: "2026-01-01T00:00:00Z",
    duration: 100,
    timing: { waits: { start: 5 } },
    ...more,
  }) as Step;

const job = (name: string, steps: readonly Step[], more: Partial<Job> = {}): Job =>
  ({
    name,
    stage: "main",
    status: "success",
    startTime: "2026-01-01T00:00:00Z",
    duration: 100,
    reusedFrom: null,
    steps,
    ...more,
  }) as Job;

describe("the comparison of logs", () => {
  it("pairs lines that are equal apart from times, numbers and ids", () => {
    const a = log("began at 12:30:11", "commit 3f2a9c1d77 in 41 ms", "ok", "failed: no space");
    const b = log("began at 09:01:59", "commit 99ab01ccd2 in 7 ms", "ok", "done");
    const { rows, isAligned } = alignLogs(a, b);
    expect(isAligned).to.equal(true);
    expect(rows.map(({ kind }) => kind)).to.deep.equal(["varies", "varies", "same", "differs"]);
    expect(rows[3]).to.deep.include({ a: a[3], b: b[3] });
    expect(masked("the face of a decade")).to.equal("the face of a decade");
  });

  it("keeps every line of both logs once and in order, whatever they say", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "c", "1", "2"), { maxLength: 30 });
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const { rows } = alignLogs(log(...a), log(...b));
        expect(rows.flatMap((row) => (row.a === null ? [] : [row.a.text]))).to.deep.equal(a);
        expect(rows.flatMap((row) => (row.b === null ? [] : [row.b.text]))).to.deep.equal(b);
        for (const { kind, a: one, b: other } of rows) {
          if (kind === "same") expect(one?.text).to.equal(other?.text);
          if (kind === "varies") expect(masked(one!.text)).to.equal(masked(other!.text));
        }
      }),
    );
  });

  it("aligns the equal ends of logs that differ too much for a shortest difference", () => {
    const many = (word: string) =>
      Array.from({ length: 3_000 }, (_, at) => `${word} ${"x".repeat(at % 97)}${at % 89 === 0 ? word : ""}`);
    const { rows, isAligned } = alignLogs(
      log("first", ...many("left"), "last"),
      log("first", ...many("right"), "last"),
    );
    expect(isAligned).to.equal(false);
    expect([rows[0]?.kind, rows.at(-1)?.kind, rows.length]).to.deep.equal(["same", "same", 3_002]);
  });

  it("folds equal lines away from a difference, and opens them by their place", () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${"abc".repeat(at)}`);
    const { rows } = alignLogs(log(...lines, "left"), log(...lines, "right"));
    const shown = shownRows(rows, new Set());
    expect(shown.map(({ kind }) => kind)).to.deep.equal(["gap", "line", "line", "line", "line"]);
    expect(shown[0]).to.deep.equal({ kind: "gap", at: 0, count: 37 });
    expect(shownRows(rows, new Set([0]))).to.have.length(41);
  });
});

describe("the pairs of two runs", () => {
  it("pair jobs and steps by name, and keep what one run has alone", () => {
    const a = [job("test", [step("units", { status: "failed", exitCode: 1 })], { status: "failed" }), job("new", [])];
    const b = [job("old", []), job("test", [step("units"), step("browser")])];
    const rows = pairRows(a, b);
    expect(rows.map(({ fullName, a: one, b: other }) => [fullName, one !== null, other !== null])).to.deep.equal([
      ["test", true, true],
      ["test / units", true, true],
      ["test / browser", false, true],
      ["new", true, false],
      ["old", false, true],
    ]);
    expect(rows.every(({ differs }) => differs)).to.equal(true);
    expect(rowToShow(rows)?.fullName).to.equal("test / units");
  });

  it("compare the newest attempt of a step", () => {
    const attempts = [
      step("units", { status: "failed", retriedBy: "step again" }),
      step("units", { stepRunId: "again" }),
    ];
    const rows = pairRows([job("test", attempts)], [job("test", [step("units")])]);
    expect(rows).to.have.length(2);
    expect(rows.some(({ differs }) => differs)).to.equal(false);
  });

  it("call a duration different by a quarter and a second at least", () => {
    expect([isLonger(400, 90), isLonger(10_000, 9_000), isLonger(10_000, 7_000), isLonger(null, 2_000)]).to.deep.equal([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe("the fields of a setting", () => {
  it("say the value that the setting has", () => {
    const values: Readonly<Record<string, unknown>> = {
      "retention.runs": { age: "30d", perPipeline: 10, perProject: null },
      "log.lines": 1_000,
      "trust.secrets": true,
      "jobs.api": "read",
      "quota.labels": [{ key: "pool", value: "gpu", limit: 2 }],
    };
    for (const [name, value] of Object.entries(values)) {
      const fields = Object.fromEntries(fieldsOf(name, value).map((field) => [field.name, field.value]));
      expect(readFields(name, fields), name).to.deep.equal(value);
      expect(settingText(name, value), name).to.not.equal("");
    }
    expect(settingText("retention.runs", values["retention.runs"])).to.equal("for 30d, at most 10 a pipeline");
    expect(() => readFields("log.lines", { "log.lines": "many" })).to.throw("no whole number");
    expect(() => readFields("quota.labels", { "quota.labels": "gpu 2" })).to.throw("gpu 2");
  });
});
