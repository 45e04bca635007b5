/** A minute of load by ghz, and the memory of the node under it. Needs Go to build ghz, so it is not part of `npm test`. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { goTool } from "./go-tools.ts";
import { Installation } from "./installation.ts";

const run = promisify(execFile);
const LOAD_S = 60;
const SAMPLE_MS = 1_000;
/** After this time the heap has grown to its working size. */
const WARM_S = 15;
const WINDOW_S = 10;
/** The highest ratio of the memory in the last seconds to that after the warm-up. */
const GROWTH = 1.2;

interface Report {
  readonly count: number;
  readonly rps: number;
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
  /** Nanoseconds. */
  readonly latencyDistribution: readonly { readonly percentage: number; readonly latency: number }[];
}

describe("a minute of load", function () {
  this.timeout(300_000);
  let installation: Installation;
  before(async () => {
    installation = await Installation.start();
  });
  after(() => installation.end());

  async function load(operation: string, message: string, token: string, concurrency: number): Promise<Report> {
    const flags = {
      call: operation,
      data: message,
      metadata: JSON.stringify({ authorization: `Bearer ${token}` }),
      concurrency: String(concurrency),
      duration: `${LOAD_S}s`,
      "duration-stop": "wait",
      timeout: "20s",
      format: "json",
    };
    const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
    const ghz = await goTool("ghz");
    const { stdout } = await run(ghz, ["--insecure", ...args, installation.address], { maxBuffer: 1 << 30 });
    return JSON.parse(stdout) as Report;
  }

  /** The resident memory of the node, MiB. */
  async function residentMiB(): Promise<number> {
    const text = await readFile(`/proc/${installation.node.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)![1]) / 1_024;
  }

  it("of Heartbeat and PushLogs loses no call, and memory stays flat", async () => {
    const { agentToken, dispatch } = await installation.holdStep("ghz");
    const { runId, jobId, stepRunId, token } = dispatch;
    const held = [{ run_id: runId, job_id: jobId, step_run_id: stepRunId, token }];
    const beat = { boot_id: "boot-1", sequence: "1", held, held_job_ids: [jobId] };
    const report = { ...held[0], phase: "STEP_PHASE_STARTED", exit_code: -1, started_at_ms: String(Date.now()) };
    const started = await installation.call("agent.v1.Agent/ReportStepRunStatus", { report }, agentToken);
    expect(started.body).to.deep.equal({ verdict: "REPORT_VERDICT_PROCESSED" });
    // ghz counts its requests from 0, and a step's lines are numbered from 1: one after the other, they are all stored.
    const line = {
      line: "{{add .RequestNumber 1}}",
      time_ms: "1700000000000",
      level: "info",
      content: "x".repeat(200),
    };
    const batch = { run_id: runId, step_run_id: stepRunId, token, lines: [line] };

    const sizes: number[] = [];
    const sampler = setInterval(() => void residentMiB().then((size) => sizes.push(size)), SAMPLE_MS);
    const [beats, pushes] = await Promise.all([
      load("agent.v1.Agent.Heartbeat", JSON.stringify(beat), agentToken, 10),
      load("gateway.v1.Gateway.PushLogs", JSON.stringify(batch), agentToken, 1),
    ]).finally(() => clearInterval(sampler));

    const warm = median(sizes.slice(WARM_S, WARM_S + WINDOW_S));
    const last = median(sizes.slice(-WINDOW_S));
    for (const [name, report] of Object.entries({ Heartbeat: beats, PushLogs: pushes }))
      console.log(`      ${textOf(name, report)}`);
    console.log(`      memory of the node: ${warm.toFixed(0)} MiB when warm, ${last.toFixed(0)} MiB at the end`);
    expect(beats.statusCodeDistribution).to.deep.equal({ OK: beats.count });
    expect(pushes.statusCodeDistribution).to.deep.equal({ OK: pushes.count });
    const lines = { ...batch, lines: [{ ...line, line: String(pushes.count + 1) }] };
    const { body } = await installation.call("gateway.v1.Gateway/PushLogs", [lines], agentToken);
    expect(body, "every line is stored").to.include({ storedThrough: String(pushes.count + 1) });
    expect(last, "memory at the end").to.be.below(warm * GROWTH);
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

function textOf(name: string, { count, rps, latencyDistribution }: Report): string {
  const p99 = latencyDistribution.find(({ percentage }) => percentage === 99)!.latency / 1e6;
  return `${name}: ${count} calls, ${rps.toFixed(0)} a second, p99 ${p99.toFixed(1)} ms`;
}
