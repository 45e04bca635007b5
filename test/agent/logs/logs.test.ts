/** Log lines on their way from the output of a step to the store of the control plane. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { LogLine } from "../../../proto/generated/gateway/v1/gateway.ts";
import { until } from "../../support/until.ts";
import { AgentBench, processesWith, sleepOf } from "../test-agent.ts";

describe("the log of a step on an agent", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
    await bench.start();
  });
  afterEach(() => bench.end());

  const numbersOf = (lines: readonly LogLine[]) => lines.map(({ line }) => Number(line));
  const oneTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

  it("has every line of a long output, once and in order, in batches within their limits", async () => {
    bench.gateway.dispatch({ script: "seq -f 'line %.0f with some text to make it as long as lines are' 50000" });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED", lastLine: 50_000n });
    const lines = await bench.gateway.logOf(50_000n);
    expect(numbersOf(lines)).to.deep.equal(oneTo(50_000));
    const text = (n: number) => `line ${n} with some text to make it as long as lines are`;
    expect(lines.findIndex(({ content }, index) => content !== text(index + 1))).to.equal(-1);
    expect(Math.max(...bench.gateway.pushes.map((push) => push.lines.length))).to.be.at.most(1_000);
    expect(bench.gateway.pushes.every(({ runId, token }) => runId === "run_1" && token === 1n)).to.equal(true);
  });

  it("numbers standard output and standard error together and names the stream of each line", async () => {
    bench.gateway.dispatch({ script: "for i in 1 2 3; do echo out; sleep 0.03; echo err >&2; sleep 0.03; done" });
    const lines = await bench.gateway.logOf((await bench.gateway.endOf()).lastLine);
    expect(lines.map(({ line, stream, content }) => `${line} ${stream} ${content}`)).to.deep.equal([
      "1 LOG_STREAM_STDOUT out",
      "2 LOG_STREAM_STDERR err",
      "3 LOG_STREAM_STDOUT out",
      "4 LOG_STREAM_STDERR err",
      "5 LOG_STREAM_STDOUT out",
      "6 LOG_STREAM_STDERR err",
    ]);
    expect(lines.every(({ timeMs }) => Math.abs(Number(timeMs) - Date.now()) < 60_000)).to.equal(true);
  });

  it("survives binary garbage", async () => {
    bench.gateway.dispatch({ script: "head -c 3000000 /dev/urandom; printf '\\nwhole at the end'" });
    const { lastLine, phase } = await bench.gateway.endOf();
    expect(phase).to.equal("STEP_PHASE_SUCCEEDED");
    const lines = await bench.gateway.logOf(lastLine);
    expect(numbersOf(lines)).to.deep.equal(oneTo(Number(lastLine)));
    expect(lines.at(-1)!.content).to.equal("whole at the end");
  });

  it("arrives while the step is running", async () => {
    bench.gateway.dispatch({ script: `echo early; ${sleepOf(73)}` });
    expect((await bench.gateway.logOf(1n))[0]!.content).to.equal("early");
    expect(bench.gateway.reports.filter(({ phase }) => phase !== "STEP_PHASE_STARTED")).to.deep.equal([]);
  });

  it("is sent in larger batches when the gateway stores it slowly", async () => {
    bench.gateway.storesLogs = false;
    bench.gateway.dispatch({ script: "for i in $(seq 40); do echo $i; sleep 0.02; done" });
    expect(await bench.gateway.endOf()).to.include({ lastLine: 40n });
    expect(bench.gateway.pushes.length, "batches on their way").to.be.at.most(2);
    bench.gateway.storeLogsAgain();
    expect(numbersOf(await bench.gateway.logOf(40n))).to.deep.equal(oneTo(40));
    expect(bench.gateway.pushes.length, "batches in all").to.be.at.most(4);
  });

  it("is sent at most every 5 ms while lines follow one another", async () => {
    const pause = "const until = performance.now() + 0.3; while (performance.now() < until);";
    const program = `for (let n = 1; n <= 1000; n++) { process.stdout.write(n + "\\n"); ${pause} }`;
    bench.gateway.dispatch({ script: `exec ${process.execPath} -e '${program}'` });
    const { lastLine } = await bench.gateway.endOf();
    const times = (await bench.gateway.logOf(lastLine)).map(({ timeMs }) => Number(timeMs));
    expect(times).to.have.length(1_000);
    // Timers may fire a millisecond early, and the end of the step sends the rest at once.
    expect(bench.gateway.pushes.length).to.be.at.most((times.at(-1)! - times[0]!) / 4 + 3);
  });

  it("loses and repeats no line over a restart of the gateway", async () => {
    bench.gateway.dispatch({ script: "for i in $(seq 300); do echo $i; sleep 0.005; done" });
    await bench.gateway.logOf(50n);
    bench.gateway.stop();
    await bench.gateway.start();
    await bench.gateway.logOf(150n);
    bench.gateway.stop();
    await bench.gateway.start();
    const { lastLine } = await bench.gateway.endOf();
    const lines = await bench.gateway.logOf(lastLine);
    expect(lines.map(({ content }) => Number(content))).to.deep.equal(oneTo(300));
    expect(numbersOf(lines)).to.deep.equal(oneTo(300));
  });

  const MANY = "seq -f '%.0f of a great many lines that wait to be stored now' 250000";
  const files = async () => (await readdir(join(bench.dataDir, "scratch"))).filter((name) => name.startsWith("log-"));

  it("keeps all lines while the gateway stores nothing, and does not delay the step", async () => {
    bench.gateway.storesLogs = false;
    bench.gateway.dispatch({ script: MANY });
    const { lastLine, phase } = await bench.gateway.endOf();
    expect([phase, lastLine]).to.deep.equal(["STEP_PHASE_SUCCEEDED", 250_000n]);
    expect((await files()).length, "segments on the disk").to.be.at.least(7);
    bench.gateway.storeLogsAgain();
    const lines = await bench.gateway.logOf(lastLine);
    expect(lines.findIndex(({ line, lost }, index) => line !== BigInt(index + 1) || lost > 0n)).to.equal(-1);
    expect(lines.find(({ line, content }) => !content.startsWith(`${line} of a great many`))).to.equal(undefined);
    await until("nothing left on the disk", async () => (await files()).length === 0);
  });

  /** Reads the log of a step, and returns how many of its lines exist. The others are in gap records. */
  async function keptOf(lastLine: bigint): Promise<number> {
    bench.gateway.storeLogsAgain();
    const lines = await bench.gateway.logOf(lastLine);
    let next = 1n;
    // An assertion for each of 100,000 lines takes seconds.
    const wrong = lines.find(({ line, lost, content }) => {
      const isNext = line === next;
      next = line + (lost || 1n);
      return !isNext || (lost === 0n && !content.startsWith(`${line} of a great many`));
    });
    expect(wrong).to.equal(undefined);
    expect(next).to.equal(250_001n);
    expect(lines.filter(({ lost }) => lost > 0n)).to.have.length.within(1, 3);
    return lines.length;
  }

  it("has a gap record for lines that fit neither memory nor disk, and the step still ends", async () => {
    await bench.restart({ logBufferBytes: 4 * 1024 * 1024 });
    bench.gateway.storesLogs = false;
    bench.gateway.dispatch({ script: MANY });
    const { lastLine, phase } = await bench.gateway.endOf();
    expect([phase, lastLine]).to.deep.equal(["STEP_PHASE_SUCCEEDED", 250_000n]);
    const sizes = await Promise.all(
      (await files()).map(async (name) => (await stat(join(bench.dataDir, "scratch", name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.within(2 * 1024 * 1024, 4 * 1024 * 1024);
    // The window, 4 MiB on the disk, and 8 MiB in memory, where a line takes twice its size.
    expect(await keptOf(lastLine)).to.be.within(60_000, 160_000);
  });

  it("has a gap record for lines that do not fit into memory when the disk takes none", async () => {
    await bench.restart({ logBufferBytes: 0 });
    bench.gateway.storesLogs = false;
    bench.gateway.dispatch({ script: MANY });
    const { lastLine } = await bench.gateway.endOf();
    expect(await keptOf(lastLine)).to.be.within(30_000, 80_000);
  });

  it("is dropped and no longer sent when the gateway refuses it", async () => {
    bench.gateway.storesLogs = false;
    bench.gateway.dispatch({ script: `echo one; sleep 0.2; echo two; ${sleepOf(74)}` });
    await until("the first push", () => bench.gateway.pushes.length === 1);
    bench.gateway.send({ $case: "refuse", value: { stepRunId: "step_1", token: 1n } });
    await until("the end of the step", async () => (await processesWith(sleepOf(74))).length === 0);
    bench.gateway.dispatch({ script: "echo of another", stepRunId: "step_2" });
    await until("the push of another step", () => bench.gateway.pushes.at(-1)?.stepRunId === "step_2");
    expect(bench.gateway.pushes.filter(({ stepRunId }) => stepRunId === "step_1")).to.have.length(1);
  });
});
