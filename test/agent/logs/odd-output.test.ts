/** Output that is no plain text, written by real processes: what the agent sends of it. The table is in docs/logs.md. */
import { constants } from "node:fs";
import { open, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { LINE_BYTES } from "../../../src/agent/logs/line-splitter.ts";
import type { LogLine } from "../../../proto/generated/gateway/v1/gateway.ts";
import { AgentBench } from "../test-agent.ts";

describe("odd output of a step", function () {
  this.timeout(30_000);
  let bench: AgentBench;
  let steps = 0;
  before(async () => {
    bench = await new AgentBench().open();
    await bench.start();
  });
  after(() => bench.end());

  async function run(script: string, dispatch: Partial<Parameters<AgentBench["gateway"]["dispatch"]>[0]> = {}) {
    const stepRunId = `odd_${++steps}`;
    bench.gateway.dispatch({ ...dispatch, script, stepRunId });
    const end = await bench.gateway.endOf(stepRunId);
    const lines = end.lastLine === 0n ? [] : await bench.gateway.logOf(end.lastLine, stepRunId);
    return { end, lines, texts: lines.map(({ content }) => content) };
  }

  it("is cut in a line of 10 MB, which says how many bytes are missing, and the next line is whole", async () => {
    const { texts, end } = await run("head -c 10485760 /dev/zero | tr '\\0' x; echo; echo next");
    expect(texts).to.deep.equal([`${"x".repeat(LINE_BYTES)} [cut: ${10_485_760 - LINE_BYTES} bytes]`, "next"]);
    expect(end.lastLine).to.equal(2n);
  });

  it("has U+FFFD for each byte that is not UTF-8, and keeps every other character, control characters too", async () => {
    const { texts } = await run(String.raw`printf 'a\377b\000c\303\n\303\251 \342\202\n'`);
    expect(texts).to.deep.equal(["a\ufffdb\0c\ufffd", "é \ufffd"]);
  });

  it("keeps colours as they are written", async () => {
    const { texts } = await run(String.raw`printf '\033[1;31mred\033[0m \033[2Kplain\n'`);
    expect(texts).to.deep.equal(["\u001b[1;31mred\u001b[0m \u001b[2Kplain"]);
  });

  it("is one line with its carriage returns for a progress bar, and one line less for each line feed of Windows", async () => {
    const { texts } = await run(String.raw`printf '10%%\r'; sleep 0.05; printf '20%%\r100%%\nwindows\r\nlast\r'`);
    expect(texts).to.deep.equal(["10%\r20%\r100%", "windows", "last\r"]);
  });

  it("ends with the last line without a line feed, and no empty line follows a last line feed", async () => {
    expect((await run("printf 'a\\n\\nb'")).texts).to.deep.equal(["a", "", "b"]);
    expect((await run("printf 'a\\n'")).texts).to.deep.equal(["a"]);
    expect((await run("true")).end.lastLine).to.equal(0n);
  });

  it("has every number of a million lines; those beyond the limit of the log are one gap record and the newest", async () => {
    const logLimit = { lines: 1_000n, bytes: 10_000_000n, tailLines: 500n, tailBytes: 1_000_000n };
    const { lines, end } = await run("seq 1000000", { logLimit });
    expect(end.lastLine, "with the line that tells of the limit").to.equal(1_000_001n);
    const gaps = lines.filter(({ lost }) => lost > 0n);
    expect(gaps.map(({ line, lost }) => [line, line + lost - 1n])).to.deep.equal([[1_002n, 999_501n]]);
    expect(lines.at(-1)).to.deep.include({ line: 1_000_001n, content: "1000000" });
  });

  it("of a process that outlives the step is not in the log, and does not delay its end", async () => {
    // Without the environment, the agent cannot find out that the process belongs to the step.
    const { texts, end } = await run("(sleep 2; echo late) & env -i setsid sh -c 'sleep 2; echo later' & echo done");
    expect(texts).to.deep.equal(["done"]);
    expect(Number(end.endedAtMs - end.startedAtMs)).to.be.below(1_900);
  });

  it("ends with the step although a process that the agent does not know holds the pipe, whose output is not in the log", async () => {
    const stepRunId = `odd_${++steps}`;
    const go = join(tmpdir(), `odd-${process.pid}-${steps}`);
    bench.gateway.dispatch({ script: `echo $$; until [ -e ${go} ]; do sleep 0.02; done; echo done`, stepRunId });
    const [first] = await bench.gateway.logOf(1n, stepRunId);
    // This process is no descendant of the step.
    const held = await open(`/proc/${first!.content}/fd/1`, constants.O_WRONLY);
    try {
      const from = performance.now();
      await writeFile(go, "");
      const { lastLine } = await bench.gateway.endOf(stepRunId);
      expect(performance.now() - from, "a second for the pipe")
        .to.be.above(900)
        .and.below(5_000);
      expect((await bench.gateway.logOf(lastLine, stepRunId)).map(({ content }) => content)).to.deep.equal([
        first!.content,
        "done",
      ]);
      const error = await held.write("late\n").catch(({ code }: NodeJS.ErrnoException) => code);
      expect(error, "the agent has closed its end").to.equal("EPIPE");
    } finally {
      await held.close();
      await rm(go, { force: true });
    }
  });

  it("lets the agent do everything else between any two reads, also when the step writes faster than the agent reads", async () => {
    const stepRunId = `odd_${++steps}`;
    const reader = Socket.prototype as unknown as { push: (chunk: Buffer | null) => boolean };
    const { push } = reader;
    let inTurn = 0;
    let most = 0;
    let timer: NodeJS.Immediate;
    const turn = () => {
      inTurn = 0;
      timer = setImmediate(turn);
    };
    turn();
    reader.push = function (this: Socket, chunk) {
      if (chunk !== null && chunk.length > 60_000 && chunk.toString("latin1", 0, 2).match(/^\d/))
        most = Math.max(most, ++inTurn);
      return push.call(this, chunk);
    };
    try {
      bench.gateway.dispatch({ script: "seq 100000", stepRunId });
      const { lastLine } = await bench.gateway.endOf(stepRunId);
      expect(lastLine).to.equal(100_000n);
      expect(most, "pieces of 64 KiB in one turn of the event loop").to.be.within(1, 3);
    } finally {
      reader.push = push;
      clearImmediate(timer!);
    }
  });

  it("is masked before it is cut into lines, whatever the pieces in which it is written", async () => {
    const secret = "s3cret-value-of-the-step";
    const { texts } = await run(
      `printf 'a s3cret-value'; sleep 0.05; printf -- '-of-the-step b\\n::error::${secret}\\n'`,
      {
        secrets: [secret],
      },
    );
    expect(texts).to.deep.equal(["a *** b", "::error::***"]);
  });

  it("keeps the lines of commands: groups as they are, annotations under their level and with their report", async () => {
    const script = [
      "echo '::group::build'",
      "echo '::error file=a.c,line=3::bad%0Aworse'",
      "echo '::warning::careful' >&2",
      "sleep 0.05",
      "echo '::endgroup::'",
    ].join("\n");
    const { lines, end } = await run(script);
    const levelOf = (text: string) => lines.find(({ content }) => content.startsWith(text))!.level;
    expect(["::group", "::error", "::warning", "::endgroup"].map(levelOf)).to.deep.equal([
      "info",
      "error",
      "warn",
      "info",
    ]);
    expect(end.notes!.annotationsLeftOut).to.equal(0);
    const error = end.notes!.annotations.find(({ level }) => level === "ANNOTATION_LEVEL_ERROR")!;
    expect(error).to.deep.include({ file: "a.c", line: 3, message: "bad\nworse" });
    const numberOf = (found: LogLine) => found.line;
    expect(error.logLine).to.equal(numberOf(lines.find(({ level }) => level === "error")!));
    expect(end.notes!.annotations).to.have.length(2);
  });

  it("leaves a summary that is masked, and cut at its bound at a whole character, and the log says so", async () => {
    const secret = "s3cret-value-of-the-step";
    const small = await run(`echo "# Done ${secret}" >> "$MILLRACE_SUMMARY"`, { secrets: [secret] });
    expect(small.end.notes!.summary).to.deep.equal({ markdown: "# Done ***\n", cut: false });
    const large = await run(
      `printf 'x' > "$MILLRACE_SUMMARY"; yes € | tr -d '\\n' | head -c 9000000 >> "$MILLRACE_SUMMARY"`,
    );
    expect(large.end.notes!.summary!.cut).to.equal(true);
    expect(large.end.notes!.summary!.markdown).to.match(/^x€+$/);
    expect(Buffer.byteLength(large.end.notes!.summary!.markdown)).to.be.within(65_530, 65_536);
    expect(large.texts).to.deep.equal(["millrace: the summary in MILLRACE_SUMMARY is cut after 65536 bytes"]);
  });

  it("may be events: they are sent with the token of the step, also when it fails, and bad lines are annotations", async () => {
    const lines = [
      '{ "type": "progress", "data": { "done": 1, "note": "s3cret-value-of-the-step" } }',
      "oops",
      '{ "type": "refused" }',
    ];
    const script = `cat >> "$MILLRACE_EVENTS" <<'END'\n${lines.join("\n")}\nEND\nexit 3`;
    const secrets = ["s3cret-value-of-the-step"];
    const { end, lines: log, texts } = await run(script, { secrets });
    expect([end.phase, end.exitCode]).to.deep.equal(["STEP_PHASE_FAILED", 3]);
    const [event] = bench.gateway.events;
    expect(event).to.include({ type: "svc.step.progress", dataJson: '{"done":1,"note":"***"}', token: end.token });
    expect(event!.id).to.equal(`${end.stepRunId}/${end.token}/1`);
    expect(texts).to.deep.equal([
      "::warning title=MILLRACE_EVENTS::line 2 of MILLRACE_EVENTS is not sent: it is not JSON",
      "::warning title=MILLRACE_EVENTS::line 3 of MILLRACE_EVENTS is not sent: the word refused is reserved",
    ]);
    expect(log.map(({ level }) => level)).to.deep.equal(["warn", "warn"]);
    const notes = end.notes!.annotations.map(({ title, logLine }) => [title, logLine]);
    expect(notes).to.deep.equal([
      ["MILLRACE_EVENTS", 1n],
      ["MILLRACE_EVENTS", 2n],
    ]);
  });

  it("has events that were sent once, when the call breaks in between", async () => {
    bench.gateway.events.length = 0;
    const take = bench.gateway.onPushEvents;
    bench.gateway.onPushEvents = (stream) => {
      bench.gateway.onPushEvents = take;
      stream.on("data", () => stream.emit("error", { code: status.UNAVAILABLE }));
    };
    const { end, texts } = await run(`echo '{"type":"progress","subject":"a"}' >> "$MILLRACE_EVENTS"`);
    expect([end.phase, texts]).to.deep.equal(["STEP_PHASE_SUCCEEDED", []]);
    expect(bench.gateway.events.map(({ subject, dataJson }) => [subject, dataJson])).to.deep.equal([["a", "{}"]]);
  });

  it("may be a test report: its cases are sent, it is counted, and it never changes how the step ends", async () => {
    const testReports = { junit: ["reports/*.xml"] };
    const cases = '<testcase name="a"/><testcase name="b" line="3"><failure message="no"/></testcase>';
    const write = `mkdir -p reports; echo '<testsuite name="s">${cases}</testsuite>' > reports/a.xml`;
    const { end } = await run(`${write}; echo '<!DOCTYPE x><x/>' > reports/b.xml`, { testReports });
    expect(end.phase).to.equal("STEP_PHASE_SUCCEEDED");
    const { problems, ...counts } = end.notes!.tests!;
    expect(counts).to.deep.equal({ total: 2, failed: 1, skipped: 0, flaky: 0, durationMs: 0n, kept: 2 });
    expect(problems.join()).to.include("reports/b.xml").and.include("document type");
    const [sent] = bench.gateway.testCases;
    expect(sent!.cases.map(({ name, outcome }) => [name, outcome])).to.deep.equal([
      ["b", "TEST_OUTCOME_FAILED"],
      ["a", "TEST_OUTCOME_PASSED"],
    ]);
  });

  it("has no summary, and no failure, when the file is empty, gone or no file", async () => {
    expect((await run("true")).end.notes).to.equal(undefined);
    const script = 'rm "$MILLRACE_SUMMARY"; ln -s /etc/passwd "$MILLRACE_SUMMARY"';
    const { end, texts } = await run(script);
    expect([end.phase, end.notes]).to.deep.equal(["STEP_PHASE_SUCCEEDED", undefined]);
    expect(texts).to.deep.equal([
      "millrace: the summary in MILLRACE_SUMMARY is not kept: it is no longer a regular file",
    ]);
  });
});
