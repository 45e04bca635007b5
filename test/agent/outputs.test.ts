/** Outputs that steps write to the file MILLRACE_OUTPUT, on a real agent with real processes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "../support/until.ts";
import { AgentBench, sleepOf } from "./test-agent.ts";

const UNREADABLE = "the outputs in MILLRACE_OUTPUT cannot be read: ";

describe("the outputs of a step on an agent", () => {
  let bench: AgentBench;
  let steps: number;
  beforeEach(async () => {
    steps = 0;
    bench = await new AgentBench().open();
    await bench.start();
  });
  afterEach(() => bench.end());

  const endOf = (script: string) => {
    const stepRunId = `step_${++steps}`;
    bench.gateway.dispatch({ script, stepRunId });
    return bench.gateway.endOf(stepRunId);
  };
  /** Runs a step that writes `content` (a format of printf) to the file, exactly to the last byte. */
  const endWith = (content: string) => endOf(`printf '${content}' > "$MILLRACE_OUTPUT"`);
  const leftFiles = async () =>
    (await readdir(join(bench.dataDir, "scratch"))).filter((name) => /^(outputs|script)/.test(name));

  it("are empty when the step writes none", async () => {
    expect(await endOf("true")).to.deep.include({ phase: "STEP_PHASE_SUCCEEDED", outputs: {} });
  });

  it("are lines of names and values, and the last value of a name counts", async () => {
    const { phase, outputs } = await endOf(`
      echo "number=1.4.2" >> "$MILLRACE_OUTPUT"
      echo "equation=a=b << c" >> "$MILLRACE_OUTPUT"
      echo "empty=" >> "$MILLRACE_OUTPUT"
      echo "" >> "$MILLRACE_OUTPUT"
      echo "  " >> "$MILLRACE_OUTPUT"
      echo "_with-dash= kept as it is " >> "$MILLRACE_OUTPUT"
      echo "constructor=ours" >> "$MILLRACE_OUTPUT"
      echo "number=1.4.3 ✓" >> "$MILLRACE_OUTPUT"
      printf "last=without an end of line" >> "$MILLRACE_OUTPUT"`);
    expect(phase).to.equal("STEP_PHASE_SUCCEEDED");
    expect(outputs).to.deep.equal({
      number: "1.4.3 ✓",
      equation: "a=b << c",
      empty: "",
      "_with-dash": " kept as it is ",
      constructor: "ours",
      last: "without an end of line",
    });
  });

  it("may have several lines, up to a line with the delimiter alone", async () => {
    const { phase, outputs } = await endOf(`cat >> "$MILLRACE_OUTPUT" <<'END'
notes<<EOF
first
 EOF
EOF=2

last
EOF
after=1
none<<a=b
a=b
END`);
    expect(phase).to.equal("STEP_PHASE_SUCCEEDED");
    expect(outputs).to.deep.equal({ notes: "first\n EOF\nEOF=2\n\nlast", after: "1", none: "" });
  });

  it("may have line ends of Windows", async () => {
    const { outputs } = await endWith("a=1\\r\\n\\r\\nb<<EOF\\r\\nx\\r\\ny\\r\\nEOF\\r\\n");
    expect(outputs).to.deep.equal({ a: "1", b: "x\ny" });
  });

  it("fail a successful step when they are malformed, with the line but none of its text", async () => {
    const name = "no name of 1 to 64 letters, digits, _ and - that begins with a letter or _";
    const cases: [content: string, problem: string][] = [
      ["a=1\\n\\nhunter2\\nb=2\\n", 'line 3 has no "="'],
      ["a=1\\nhunter 2=x\\n", `line 2 has ${name}`],
      ["a=1\\n=hunter2\\n", `line 2 has ${name}`],
      [`a=1\\n${"n".repeat(65)}=x\\n`, `line 2 has ${name}`],
      ["a=1\\n__proto__=x\\n", 'line 2 has the name "__proto__", which no output can have'],
      ["a=1\\nb<<\\nhunter2\\n\\n", 'line 2 has no delimiter after "<<"'],
      ["a=1\\nb<<E\\nhunter2\\nEE\\n", "the value that begins in line 2 has no line with its delimiter alone"],
      ["a=1\\nb=hunter2\\377\\n", "the value in line 2 is not UTF-8"],
    ];
    for (const [content, problem] of cases) {
      expect(await endWith(content), content).to.deep.include({
        phase: "STEP_PHASE_FAILED",
        exitCode: 0,
        reason: UNREADABLE + problem,
        outputs: { a: "1" },
      });
    }
  });

  it("have at most 65536 bytes of names and values", async () => {
    const exact = await endOf(`{ echo a=é; printf 'big=%065530d\\n' 0; } > "$MILLRACE_OUTPUT"`);
    expect(exact).to.include({ phase: "STEP_PHASE_SUCCEEDED", reason: "" });
    expect(exact.outputs).to.deep.equal({ a: "é", big: "0".repeat(65_530) });

    const over = await endOf(`{ echo a=é; printf 'big=%065531d\\n' 0; echo c=3; } > "$MILLRACE_OUTPUT"`);
    expect(over).to.deep.include({
      phase: "STEP_PHASE_FAILED",
      reason: `${UNREADABLE}names and values have more than 65536 bytes in all`,
      outputs: { a: "é" },
    });
  });

  it("count at the end of the step: replaced values take no room", async () => {
    const { phase, outputs } = await endOf(
      `{ printf 'a=%065000d\\n' 0; printf 'b=%060000d\\n' 0; echo a=1; } > "$MILLRACE_OUTPUT"`,
    );
    expect(phase).to.equal("STEP_PHASE_SUCCEEDED");
    expect(outputs).to.deep.equal({ a: "1", b: "0".repeat(60_000) });
  });

  it("have at most 256 names", async () => {
    const exact = await endOf(`for n in $(seq 256) 1; do echo "n$n=$n"; done > "$MILLRACE_OUTPUT"`);
    expect(exact.phase).to.equal("STEP_PHASE_SUCCEEDED");
    expect(Object.keys(exact.outputs)).to.have.length(256);
    const over = await endOf(`for n in $(seq 257); do echo "n$n=$n"; done > "$MILLRACE_OUTPUT"`);
    expect(over).to.include({
      phase: "STEP_PHASE_FAILED",
      reason: `${UNREADABLE}there are more than 256 names`,
    });
    expect(over.outputs).to.deep.equal(exact.outputs);
  });

  it("are read only up to the bound of the file", async () => {
    const end = await endOf(`echo a=1 > "$MILLRACE_OUTPUT"; truncate -s 8G "$MILLRACE_OUTPUT"`);
    expect(end).to.deep.include({
      phase: "STEP_PHASE_FAILED",
      reason: `${UNREADABLE}it is longer than 131072 bytes`,
      outputs: { a: "1" },
    });
  });

  it("are read from a regular file only, and anything in its place is removed", async () => {
    const notRegular = `${UNREADABLE}it is no longer a regular file`;
    const cases: [script: string, reason: string][] = [
      ["echo secret=1 > secret; ln -s $PWD/secret $f", notRegular],
      ["ln -s /no/such/file $f", notRegular],
      ["mkfifo $f", notRegular],
      ["mkdir -p $f/in; touch $f/in/file; chmod 555 $f/in", notRegular],
      [
        `${process.execPath} -e 'net.createServer().listen(process.argv[1], () => process.exit())' $f; [ -S $f ]`,
        notRegular,
      ],
      ["true", `${UNREADABLE}it was removed`],
    ];
    for (const [script, reason] of cases) {
      expect(await endOf(`f=$MILLRACE_OUTPUT; rm $f; ${script}`), script).to.deep.include({
        phase: "STEP_PHASE_FAILED",
        exitCode: 0,
        reason,
        outputs: {},
      });
    }
    expect(await leftFiles()).to.deep.equal([]);
    expect(await readFile(join(bench.dataDir, "work", "job_1", "secret"), "utf8")).to.equal("secret=1\n");
  });

  it("may come from another regular file in its place", async () => {
    const { outputs } = await endOf(`echo a=1 > draft; mv draft "$MILLRACE_OUTPUT"`);
    expect(outputs).to.deep.equal({ a: "1" });
  });

  it("are kept of a failed step up to the first problem, and its reason stays the same", async () => {
    const end = await endOf(`echo a=1 >> "$MILLRACE_OUTPUT"; echo broken >> "$MILLRACE_OUTPUT"; exit 3`);
    expect(end).to.deep.include({
      phase: "STEP_PHASE_FAILED",
      exitCode: 3,
      reason: "exit code 3",
      outputs: { a: "1" },
    });
  });

  it("are kept of timed-out and cancelled steps, and not of lost steps", async () => {
    const script = `echo a=1 >> "$MILLRACE_OUTPUT"; echo up; ${sleepOf(73)}`;
    bench.gateway.dispatch({ script, stepRunId: "step_slow", timeoutMs: 300n });
    const slow = await bench.gateway.endOf("step_slow");
    expect(slow).to.deep.include({ phase: "STEP_PHASE_TIMED_OUT", outputs: { a: "1" } });

    bench.gateway.dispatch({ script, stepRunId: "step_cancelled" });
    await bench.gateway.logOf(1n, "step_cancelled");
    const value = { jobId: "job_1", stepRunId: "step_cancelled", token: 1n, graceMs: 0n, reason: "stopped" };
    bench.gateway.send({ $case: "revoke", value });
    const cancelled = await bench.gateway.endOf("step_cancelled");
    expect(cancelled).to.deep.include({ phase: "STEP_PHASE_CANCELLED", reason: "stopped", outputs: { a: "1" } });

    bench.gateway.acknowledgesHeartbeats = false;
    bench.gateway.dispatch({ script, stepRunId: "step_lost", leaseMs: 400n });
    const lost = await bench.gateway.endOf("step_lost");
    expect(lost).to.deep.include({ phase: "STEP_PHASE_LOST", lastLine: 1n, outputs: {} });
  });

  it("go to a private file outside of the workspace, which is removed after the step", async () => {
    const script = `echo "mode=$(stat -c %a "$MILLRACE_OUTPUT")" >> "$MILLRACE_OUTPUT"
      echo "file=$MILLRACE_OUTPUT" >> "$MILLRACE_OUTPUT"`;
    const first = await endOf(script);
    const second = await endOf(script);
    expect(first.outputs["mode"]).to.equal("600");
    expect(first.outputs["file"]).to.match(new RegExp(`^${join(bench.dataDir, "scratch")}/[^/]+$`));
    expect(second.outputs["file"]).to.not.equal(first.outputs["file"]);
    expect(await leftFiles()).to.deep.equal([]);
  });

  it("cannot be redirected by a variable of the definition", async () => {
    const env = [{ name: "MILLRACE_OUTPUT", value: "/dev/null" }];
    bench.gateway.dispatch({ script: 'echo a=1 >> "$MILLRACE_OUTPUT"', env });
    expect((await bench.gateway.endOf()).outputs).to.deep.equal({ a: "1" });
  });

  it("come with every report of the end until the gateway acknowledges it", async () => {
    bench.gateway.acknowledgesReports = false;
    const script = `printf 'notes<<E\\nx\\ny\\nE\\n' >> "$MILLRACE_OUTPUT"`;
    bench.gateway.dispatch({ script });
    const first = await bench.gateway.endOf();
    expect(first.outputs).to.deep.equal({ notes: "x\ny" });
    bench.gateway.reports.length = 0;
    bench.gateway.disconnect();
    expect(await bench.gateway.endOf()).to.deep.equal(first);

    bench.gateway.send({ $case: "acknowledge", value: { stepRunId: "step_1", token: 1n } });
    await until("a heartbeat without it", () => bench.gateway.heartbeats.at(-1)?.held.length === 0);
    bench.gateway.reports.length = 0;
    bench.gateway.dispatch({ script });
    expect(await bench.gateway.endOf()).to.deep.equal({ ...first, outputs: {} });
  });
});

describe("the outputs of a step whose agent is killed", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
  });
  afterEach(() => bench.end());

  it("come with its end from the next agent in the same directory", async () => {
    bench.gateway.acknowledgesReports = false;
    const agent = await bench.spawn();
    bench.gateway.dispatch({ script: 'echo "a=✓" >> "$MILLRACE_OUTPUT"; exit 4' });
    const end = await bench.gateway.endOf();
    expect(end.outputs).to.deep.equal({ a: "✓" });
    agent.kill("SIGKILL");
    await until("the end of the process", () => agent.signalCode !== null);
    bench.gateway.reports.length = 0;
    await bench.start();
    expect(await bench.gateway.endOf()).to.deep.equal(end);
  });
});
