/** The log of a step that writes more than the limit of its log, on an agent. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Dispatch } from "../../../proto/generated/agent/v1/agent.ts";
import type { LogLine } from "../../../proto/generated/gateway/v1/gateway.ts";
import { until } from "../../support/until.ts";
import { AgentBench, processesWith, sleepOf } from "../test-agent.ts";

type Limit = NonNullable<Dispatch["logLimit"]>;

describe("the log of a step beyond its limit", function () {
  this.timeout(60_000);
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
    await bench.start();
  });
  afterEach(() => bench.end());

  const limit = (lines: number, others: Partial<Limit> = {}): Limit => {
    return { lines: BigInt(lines), bytes: 100_000_000n, tailLines: 10_000n, tailBytes: 10_000_000n, ...others };
  };
  const files = async () => (await readdir(join(bench.dataDir, "scratch"))).filter((name) => /^(log|tail)-/.test(name));

  /** Checks that the log has no hole, and answers its gap records as `first-last`. */
  function gapsOf(lines: readonly LogLine[], lastLine: bigint): string[] {
    let next = 1n;
    for (const { line, lost } of lines) {
      expect(line).to.equal(next);
      next = line + (lost || 1n);
    }
    expect(next).to.equal(lastLine + 1n);
    return lines.flatMap(({ line, lost }) => (lost > 0n ? [`${line}-${line + lost - 1n}`] : []));
  }

  it("has its first lines, one notice, one gap record and its newest 10,000 lines, all under their numbers", async () => {
    bench.gateway.dispatch({ script: "seq 120000", logLimit: limit(50_000) });
    const { lastLine, phase } = await bench.gateway.endOf();
    expect([phase, lastLine]).to.deep.equal(["STEP_PHASE_SUCCEEDED", 120_001n]);
    const lines = await bench.gateway.logOf(lastLine);
    expect(gapsOf(lines, lastLine)).to.deep.equal(["50002-110001"]);
    expect(lines).to.have.length(50_000 + 1 + 1 + 10_000);
    const notice = lines[50_000]!;
    expect(notice).to.include({ line: 50_001n, stream: "LOG_STREAM_STDERR", level: "warn" });
    expect(notice.content).to.include("has reached its limit of 50000 lines").and.to.include("newest 10000 lines");
    // The notice took a number, so each later line has the number after its own.
    const wrong = lines.filter(({ line, content, lost }) => {
      return lost === 0n && line !== 50_001n && content !== String(line <= 50_000n ? line : line - 1n);
    });
    expect(wrong).to.deep.equal([]);
    await until("nothing left on the disk", async () => (await files()).length === 0);
  });

  it("has no gap record when the lines beyond the limit fit into the end that is kept", async () => {
    bench.gateway.dispatch({ script: "seq 9000", logLimit: limit(100) });
    const { lastLine } = await bench.gateway.endOf();
    const lines = await bench.gateway.logOf(lastLine);
    expect(gapsOf(lines, lastLine)).to.deep.equal([]);
    expect(lines.at(-1)).to.include({ line: 9_001n, content: "9000" });
  });

  it("is limited by its bytes as well, and the end that is kept too", async () => {
    const long = "head -c 20000000 /dev/zero | tr '\\0' x | fold -w 5000";
    bench.gateway.dispatch({ script: long, logLimit: limit(1_000_000, { bytes: 1_000_000n, tailBytes: 2_000_000n }) });
    const { lastLine } = await bench.gateway.endOf();
    expect(lastLine).to.equal(4_001n);
    const lines = await bench.gateway.logOf(lastLine);
    expect(gapsOf(lines, lastLine)).to.deep.equal(["202-3601"]);
    expect(lines.filter(({ lost }) => lost === 0n)).to.have.length(200 + 1 + 400);
  });

  it("has its lines masked and cut in the end that is kept, also those of a flood", async () => {
    const secret = "a-secret-of-this-step";
    const flood = `seq 40000 | sed 's/$/ ${secret}/'`;
    const long = "head -c 20000 /dev/zero | tr '\\0' y; echo; printf 'no end of line'";
    const dispatch = { secrets: [secret], logLimit: limit(10, { tailLines: 100n }) };
    bench.gateway.dispatch({ ...dispatch, script: `${flood}; ${long}` });
    const { lastLine } = await bench.gateway.endOf();
    const lines = await bench.gateway.logOf(lastLine);
    expect(lines.filter(({ content }) => content.includes(secret))).to.deep.equal([]);
    expect(lines.at(-3)!.content).to.equal("40000 ***");
    expect(lines.at(-2)!.content).to.equal(`${"y".repeat(16_384)} [cut: 3616 bytes]`);
    expect(lines.at(-1)).to.include({ line: 40_003n, content: "no end of line" });
    expect(lines).to.have.length(10 + 1 + 1 + 100);
  });

  it("numbers both streams together, and keeps the end of each", async () => {
    const script = "seq 1000; for i in 1 2 3 4 5; do sleep 0.03; echo out; sleep 0.03; echo err >&2; done";
    bench.gateway.dispatch({ script, logLimit: limit(5, { tailLines: 10n }) });
    const { lastLine } = await bench.gateway.endOf();
    expect(lastLine).to.equal(1_011n);
    const lines = await bench.gateway.logOf(lastLine);
    expect(gapsOf(lines, lastLine)).to.deep.equal(["7-1001"]);
    const last = lines.slice(-10).map(({ content, stream }) => `${stream} ${content}`);
    const pair = ["LOG_STREAM_STDOUT out", "LOG_STREAM_STDERR err"];
    expect(last).to.deep.equal(Array.from({ length: 5 }, () => pair).flat());
  });

  it("takes no more room while the gateway stores nothing, and is complete when it does", async () => {
    bench.gateway.storesLogs = false;
    bench.gateway.dispatch({ script: "seq -f '%.0f of a great many lines that wait' 200000", logLimit: limit(1_000) });
    const { lastLine, phase } = await bench.gateway.endOf();
    expect([phase, lastLine]).to.deep.equal(["STEP_PHASE_SUCCEEDED", 200_001n]);
    expect(bench.gateway.pushes.length, "batches on their way").to.be.at.most(2);
    bench.gateway.storeLogsAgain();
    const lines = await bench.gateway.logOf(lastLine);
    expect(gapsOf(lines, lastLine)).to.deep.equal(["1002-190001"]);
    expect(lines.at(-1)!.content).to.match(/^200000 of a great many/);
  });

  it("is complete after a crash of the gateway in the midst of it", async () => {
    bench.gateway.dispatch({ script: "seq 60000; sleep 0.5; seq 60001 120000", logLimit: limit(40_000) });
    await bench.gateway.logOf(20_000n);
    bench.gateway.stop();
    await bench.gateway.start();
    const { lastLine } = await bench.gateway.endOf();
    const lines = await bench.gateway.logOf(lastLine);
    expect(gapsOf(lines, lastLine)).to.deep.equal(["40002-110001"]);
    expect(lines.at(-1)).to.include({ line: 120_001n, content: "120000" });
  });

  it("has no limit when the gateway names none, as one of the version before", async () => {
    bench.gateway.dispatch({ script: "seq 30000" });
    const { lastLine } = await bench.gateway.endOf();
    expect(gapsOf(await bench.gateway.logOf(lastLine), lastLine)).to.deep.equal([]);
  });

  it("costs the agent little while the step floods it, and another step's lines arrive at once", async () => {
    bench.gateway.dispatch({ script: `yes ${sleepOf(91)}`, logLimit: limit(1_000) });
    await until("the notice", () => bench.gateway.lines.get("step_1")?.some(({ line }) => line === 1_001n));
    const usage = process.cpuUsage();
    const from = performance.now();
    const script = "for i in $(seq 20); do date +%s%3N; sleep 0.05; done";
    bench.gateway.dispatch({ script, stepRunId: "step_2", jobId: "job_2" });
    await bench.gateway.endOf("step_2");
    const { user, system } = process.cpuUsage(usage);
    const share = (user + system) / 1_000 / (performance.now() - from);
    expect(share, "share of a processor that the agent takes").to.be.below(0.5);
    bench.gateway.send({ $case: "refuse", value: { stepRunId: "step_1", token: 1n } });
    await until("the end of the flood", async () => (await processesWith(sleepOf(91))).length === 0);
  });

  it("leaves nothing behind when the agent is killed, and its successor works", async () => {
    await bench.end();
    bench = await new AgentBench().open();
    const agent = await bench.spawn();
    const long = `yes ${"z".repeat(200)}${sleepOf(92)}`;
    bench.gateway.dispatch({ script: long, logLimit: limit(1_000) });
    const spilled = async () => (await files()).some((name) => name.startsWith("tail-"));
    await until("lines of the ring on the disk", spilled);
    agent.kill("SIGKILL");
    await until("the end of the step", async () => (await processesWith(sleepOf(92))).length === 0);
    await bench.start();
    const end = await bench.gateway.endOf();
    expect(end.phase).to.equal("STEP_PHASE_LOST");
    expect(await files()).to.deep.equal([]);
  });
});
