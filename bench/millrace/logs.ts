/**
 * W6: the log of one step as a live viewer sees it. The step starts, the viewer follows it, and only then the step gets
 * the signal to write. A viewer that misses a line, or gets a line twice or out of order, fails the measurement.
 */
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { WebSocket } from "ws";
import { median, percentile } from "../measure/percentiles.ts";
import type { Figure } from "../system.ts";
import type { Api } from "./api.ts";

const BURST_LINES = 20_000;
const BURSTS = 3;
const STEADY_LINES = 1_000;
const STEADY_MS = 10;
const TIMEOUT_MS = 30_000;
const POLL_MS = 5;

/** A shell script: it waits for a line from the named pipe $0, the go, and then runs its arguments as a command. */
const AFTER_GO = 'read -r go < "$0" && exec "$@"';
/** An awk program that writes lines of about 70 characters as fast as it can. */
const BURST = `BEGIN { for (n = 1; n <= ${BURST_LINES}; n++) print n " compiled src/packages/module-" n ".ts and its tests in 12 ms" }`;
/**
 * A node program. Each line holds its number and the time of its writing, by the monotonic clock, which all processes
 * share.
 */
const STEADY = `
let line = 0;
const from = performance.now();
(function next() {
  process.stdout.write(++line + " " + process.hrtime.bigint() + "\\n");
  if (line < ${STEADY_LINES}) setTimeout(next, from + line * ${STEADY_MS} - performance.now());
})()`;

export interface LogSource {
  readonly api: Api;
  /** `host:port`. */
  readonly http: string;
  readonly token: string;
}

/**
 * Measures one round. First the lines per second of 20,000 lines, from the go to the last line at the viewer, including
 * the start of the program that writes them; the median of three bursts after one warm-up burst. Then the time from the
 * writing of a line to its receipt, at 100 lines a second. The agent must be on this machine.
 */
export async function measureLogs(source: LogSource): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-logs-"));
  try {
    const rates: number[] = [];
    for (let index = 0; index <= BURSTS; index++) {
      const { go, lines } = await watch(source, join(folder, `burst-${index}`), BURST_LINES, ["awk", BURST]);
      if (index > 0) rates.push(BURST_LINES / secondsBetween(go, lines.at(-1)!.at));
    }
    const steady = await watch(source, join(folder, "steady"), STEADY_LINES, [process.execPath, "-e", STEADY]);
    const delays = steady.lines.map(({ content, at }) => Number(at - BigInt(content.split(" ")[1]!)) / 1e6);
    return [
      { metric: "lines", unit: "lines/s", value: median(rates) },
      { metric: "lines written to a pipe alone", unit: "lines/s", value: await writtenAlone() },
      { metric: "p50", unit: "ms", value: percentile(delays, 0.5) },
      { metric: "p99", unit: "ms", value: percentile(delays, 0.99) },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface SeenLine {
  readonly content: string;
  readonly at: bigint;
}

interface Watched {
  readonly go: bigint;
  readonly lines: readonly SeenLine[];
}

/**
 * Watches a run of one step with that command. `pipe` is a new path. Rejects when the viewer did not see each line once
 * and in order.
 */
async function watch(
  { api, http, token }: LogSource,
  pipe: string,
  count: number,
  command: readonly string[],
): Promise<Watched> {
  execFileSync("mkfifo", [pipe]);
  // Open for reading and writing, so that neither end waits for the other.
  const descriptor = openSync(pipe, constants.O_RDWR);
  const viewer = new Viewer(http, token);
  try {
    await viewer.opened;
    const step = await startStep(api, ["sh", "-c", AFTER_GO, pipe, ...command]);
    await viewer.follow(step);
    const go = process.hrtime.bigint();
    writeSync(descriptor, "go\n");
    await viewer.receives(count);
    await untilEnded(api, step);
    const lines = viewer.lines();
    const wrong = lines.findIndex(({ number, content }, at) => number !== at + 1 || !content.startsWith(`${number} `));
    if (wrong !== -1 || lines.length !== count) {
      throw new Error(`of ${count} lines a viewer saw ${lines.length}; the first wrong one is at ${wrong + 1}`);
    }
    return { go, lines };
  } finally {
    viewer.close();
    closeSync(descriptor);
  }
}

interface Step {
  readonly pipelineId: string;
  readonly runId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

interface RunDetails {
  readonly status: string;
  readonly jobs: readonly {
    readonly jobId: string;
    readonly steps: readonly { readonly stepRunId: string; readonly status: string }[];
  }[];
}

/** Triggers the run. Resolves when its step is running. */
async function startStep(api: Api, [program, ...args]: readonly string[]): Promise<Step> {
  const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", {
    name: `logs-${process.hrtime.bigint()}`,
    createdBy: "bench",
  });
  const steps = [{ name: "step", uses: "shell", args: { command: program, args } }];
  await api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { jobs: [{ name: "job", steps }] } });
  const { runId } = await api.call<{ runId: string }>("POST", `/pipelines/${pipelineId}/trigger`, {});
  const running = (run: RunDetails) => run.jobs[0]?.steps[0]?.status === "running";
  const { jobs } = await untilRun(api, { pipelineId, runId }, running);
  return { pipelineId, runId, jobId: jobs[0]!.jobId, stepRunId: jobs[0]!.steps[0]!.stepRunId };
}

async function untilEnded(api: Api, step: Step): Promise<void> {
  const { status } = await untilRun(api, step, ({ status }) => !["pending", "running"].includes(status));
  if (status !== "success") throw new Error(`the run with the log ended as ${status}`);
}

async function untilRun(
  api: Api,
  { pipelineId, runId }: Pick<Step, "pipelineId" | "runId">,
  condition: (run: RunDetails) => boolean,
): Promise<RunDetails> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const run = await api.call<RunDetails>("GET", `/pipelines/${pipelineId}/runs/${runId}`);
    if (condition(run)) return run;
    if (performance.now() > deadline) throw new Error(`the run with the log is still ${run.status}`);
    await pause(POLL_MS);
  }
}

interface ViewerMessage {
  readonly type: string;
  readonly error?: string;
  readonly data: { readonly line_number: number; readonly content: string };
}

/** A viewer that stores live messages unread and parses them later, to leave the CPU to the measured processes. */
class Viewer {
  readonly opened: Promise<unknown>;
  readonly #socket: WebSocket;
  readonly #received: { readonly text: Buffer; readonly at: bigint }[] = [];
  #isLive = false;
  #onLive: (() => void) | undefined;
  #expectedCount = Infinity;
  #onAllReceived: (() => void) | undefined;

  constructor(http: string, token: string) {
    this.#socket = new WebSocket(`ws://${http}/api/v1/ws`, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    this.opened = once(this.#socket, "open");
    this.#socket.on("message", (text: Buffer) => this.#receive(text));
  }

  /** Follows the step's log. Resolves at the end of its history, which is empty; every later message is live. */
  async follow({ pipelineId, jobId, stepRunId }: Step): Promise<void> {
    const live = new Promise<void>((resolve) => (this.#onLive = resolve));
    this.#socket.send(JSON.stringify({ channel: "channel_log", params: { pipelineId, jobId, stepRunId } }));
    await withDeadline(live, () => "no history of the log came");
  }

  /** Resolves when `count` live messages have come. */
  async receives(count: number): Promise<void> {
    const allReceived = new Promise<void>((resolve) => (this.#onAllReceived = resolve));
    this.#expectedCount = count;
    await withDeadline(allReceived, () => `of ${count} lines only ${this.#received.length} came`);
  }

  lines(): readonly (SeenLine & { readonly number: number })[] {
    return this.#received.map(({ text, at }) => {
      const { type, data, error } = JSON.parse(text.toString()) as ViewerMessage;
      if (type !== "log") throw new Error(`a viewer got ${type} between live lines: ${error ?? ""}`);
      return { number: data.line_number, content: data.content, at };
    });
  }

  close(): void {
    this.#socket.terminate();
  }

  #receive(text: Buffer): void {
    if (this.#isLive) {
      if (this.#received.push({ text, at: process.hrtime.bigint() }) === this.#expectedCount) this.#onAllReceived!();
      return;
    }
    this.#isLive = (JSON.parse(text.toString()) as ViewerMessage).type === "history_done";
    if (this.#isLive) this.#onLive!();
  }
}

async function withDeadline(work: Promise<void>, describe: () => string): Promise<void> {
  const hasEnded = new AbortController();
  const deadline = pause(TIMEOUT_MS, undefined, { signal: hasEnded.signal }).then(() => {
    throw new Error(describe());
  });
  deadline.catch(() => {});
  await Promise.race([work, deadline]);
  hasEnded.abort();
}

/** Lines per second of the burst's program alone: the upper bound of the measured figure. */
async function writtenAlone(): Promise<number> {
  const from = process.hrtime.bigint();
  await promisify(execFile)("awk", [BURST], { maxBuffer: Infinity });
  return BURST_LINES / secondsBetween(from, process.hrtime.bigint());
}

function secondsBetween(from: bigint, to: bigint): number {
  return Number(to - from) / 1e9;
}
