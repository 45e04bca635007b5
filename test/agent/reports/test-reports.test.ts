import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { SecretFinder } from "../../../src/agent/logs/secret-finder.ts";
import { JunitReader } from "../../../src/agent/reports/junit-reader.ts";
import { readTestReports } from "../../../src/agent/reports/test-reports.ts";
import type { TestCase } from "../../../src/domain/notes/notes.ts";

function read(...pieces: readonly string[]): TestCase[] {
  const cases: TestCase[] = [];
  const reader = new JunitReader((one) => cases.push(one));
  for (const piece of pieces) reader.write(piece);
  reader.end();
  return cases;
}

const WHOLE = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="outer" file="outer.test.js">
    <testcase name="adds &amp; subtracts" classname="Sum" time="1,200.5"/>
    <testcase name="fails" file="a.js" line="7" time="0.25">
      <failure message="expected 1" type="AssertionError"><![CDATA[at <a.js>:7]]></failure>
      <system-out>not a message</system-out>
    </testcase>
    <testsuite name="inner"><testcase name="skipped"><skipped/></testcase></testsuite>
    <testcase name="unsteady"><flakyFailure message="x"/></testcase>
  </testsuite>
</testsuites>`;

describe("a JUnit report", () => {
  it("has cases with suite, place, outcome, time and the message of a failure", () => {
    const plain = { file: "outer.test.js", line: 0, isFlaky: false, durationMs: 0, message: "" };
    const expected = [
      { ...plain, suite: "Sum", name: "adds & subtracts", outcome: "passed", durationMs: 1_200_500 },
      {
        ...plain,
        suite: "outer",
        name: "fails",
        file: "a.js",
        line: 7,
        outcome: "failed",
        durationMs: 250,
        message: "expected 1\nat <a.js>:7",
      },
      { ...plain, suite: "inner", name: "skipped", file: "", outcome: "skipped" },
      { ...plain, suite: "outer", name: "unsteady", outcome: "passed", isFlaky: true },
    ];
    expect(read(WHOLE)).to.deep.equal(expected);
    expect(read(...WHOLE.split("")), "in single characters").to.deep.equal(expected);
  });

  it("is refused with its place when it is no JUnit XML", () => {
    const refused: Record<string, string> = {
      "a document type": '<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>',
      "an entity": "<testsuite>&b;</testsuite>",
      "another root": "<html><testcase/></html>",
      "an early end": '<testsuite><testcase name="a">',
      "no XML": "42 tests passed",
      nothing: "",
      "deep nesting": "<testsuite>".repeat(60),
    };
    for (const [what, text] of Object.entries(refused)) expect(() => read(text), what).to.throw(Error);
    expect(() => read('<testsuite>\n<testcase name="a"></b>')).to.throw(/^2:/);
  });

  it("of billion laughs is refused at its document type", () => {
    const entities = Array.from({ length: 30 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join("");
    const before = process.cpuUsage().user;
    expect(() => read(`<!DOCTYPE lolz [<!ENTITY l0 "lol">${entities}]><testsuite>&l30;</testsuite>`)).to.throw(
      /document type/,
    );
    expect(process.cpuUsage().user - before).to.be.below(300_000);
  });

  it("has bounded texts", () => {
    const long = "x".repeat(100_000);
    const [one] = read(
      `<testsuite><testcase name="${long}"><failure message="${long}">${long}</failure></testcase></testsuite>`,
    );
    expect([one!.name.length, one!.message.length]).to.deep.equal([512, 2_048]);
  });
});

describe("the test reports of a step", () => {
  let workspace: string;
  beforeEach(async () => (workspace = await mkdtemp(join(tmpdir(), "millrace-reports-"))));
  afterEach(() => rm(workspace, { recursive: true, force: true }));

  const put = (name: string, cases: string) =>
    writeFile(join(workspace, name), `<testsuite name="s">${cases}</testsuite>`);
  const readAll = (secrets: readonly string[] = [], patterns = ["**/*.xml"]) =>
    readTestReports(patterns, { workspace, secrets: new SecretFinder(secrets), signal: new AbortController().signal });

  it("are counted over all files, failed cases first, then flaky ones, then the slowest", async () => {
    await mkdir(join(workspace, "sub"));
    await put(
      "a.xml",
      '<testcase name="fast" time="0.1"/><testcase name="slow" time="3"/><testcase name="bad"><error/></testcase>',
    );
    await put(
      "sub/b.xml",
      '<testcase name="off"><skipped/></testcase><testcase name="again"><failure/></testcase><testcase name="again"/>',
    );
    const { counts, cases, problems } = await readAll();
    expect(counts).to.deep.equal({ total: 5, failed: 1, skipped: 1, flaky: 1, durationMs: 3_100 });
    expect(cases.map(({ name }) => name)).to.deep.equal(["bad", "again", "slow", "fast", "off"]);
    expect(problems).to.deep.equal([]);
  });

  it("tell of files that are missing, broken or too large, and keep the cases of the others", async () => {
    await put("good.xml", '<testcase name="one"/>');
    await writeFile(join(workspace, "broken.xml"), "<testsuite><testcase name='early'/>");
    const { cases, problems } = await readAll();
    expect(cases.map(({ name }) => name)).to.deep.equal(["early", "one"]);
    expect(problems.join()).to.match(/^"broken\.xml" is no JUnit report that can be read: .*unclosed/);
    expect((await readAll([], ["none/*.xml"])).problems).to.deep.equal(['no file matches "none/*.xml"']);
    await writeFile(join(workspace, "large.xml"), Buffer.alloc(11 * 1024 * 1024, " "));
    expect((await readAll()).problems.join()).to.include("large.xml");
  });

  it("have no secret in any text", async () => {
    await put(
      "a.xml",
      '<testcase name="n s3cret-value" file="s3cret-value"><failure message="m s3cret-value"/></testcase>',
    );
    expect(JSON.stringify(await readAll(["s3cret-value"]))).not.to.include("s3cret");
  });

  it("are read in bounded time and memory: 50,000 cases are kept, and all are counted", async function () {
    this.timeout(20_000);
    const many = Array.from({ length: 55_000 }, (_, at) => `<testcase name="case ${at}" time="0.001"/>`).join("");
    await put("many.xml", many);
    const { counts, cases } = await readAll();
    expect([counts.total, cases.length, counts.durationMs]).to.deep.equal([55_000, 50_000, 55_000]);
  });
});
