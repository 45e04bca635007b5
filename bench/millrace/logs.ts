/**
 * W6: the log of one step as a live viewer sees it. The step is started with the viewer watching before its first line,
 * and waits for a go; a viewer that misses a line, or gets one twice or out of order, fails the measurement.
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
const PATIENCE_MS = 30_000;
const POLL_MS = 5;

/** $1: a named pipe whose first line is the go; then the command. */
const AFTER_GO = 'read -r go < "$0" && exec "$@"';
/** Lines of about 70 characters. */
const BURST = `BEGIN { for (n = 1; n <= ${BURST_LINES}; n++) print n " compiled src/packages/module-" n ".ts and its tests in 12 ms" }`;
/** Each line: its number and when it was written, by the machine's monotonic clock, which all processes share. */
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
 * One round: lines a second of 20,000 lines, from the go to the last line at the viewer, the start of the program that
 * writes them included, the median of three after one that is not measured; and from the writing of a line to its
 * receipt at 100 lines a second. The agent is on this machine.
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

/** A run of one step with that command, watched; `pipe`: a new file. Rejects when the viewer did not see each line once and in order. */
async function watch(
  { api, http, token }: LogSource,
  pipe: string,
  count: number,
  command: readonly string[],
): Promise<Watched> {
  execFileSync("mkfifo", [pipe]);
  // Open for both: neither end has to wait for the other.
  const descriptor = openSync(pipe, constants.O_RDWR);
  const viewer = new Viewer(http, token);
  try {
    await viewer.opened;
    const step = await startStep(api, ["sh", "-c", AFTER_GO, pipe, ...command]);
    await viewer.follow(step);
    const go = process.hrtime.bigint();
    writeSync(descriptor, "go\n");
    await viewer.sees(count);
    await untilEnded(api, step);
    const lines = viewer.lines();
    const wrong = lines.findIndex(({ number, content }, at) => number !== at + 1 || !content.startsWith(`${number} `));
    if (wrong !== -1 || lines.length !== count) {
      throw new Error(`of ${count} lines a viewer saw ${lines.length}; the first amiss is at ${wrong + 1}`);
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

/** Resolves when the step runs. */
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
  wanted: (run: RunDetails) => boolean,
): Promise<RunDetails> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const run = await api.call<RunDetails>("GET", `/pipelines/${pipelineId}/runs/${runId}`);
    if (wanted(run)) return run;
    if (performance.now() > deadline) throw new Error(`the run with the log is still ${run.status}`);
    await pause(POLL_MS);
  }
}

interface ViewerMessage {
  readonly type: string;
  readonly error?: string;
  readonly data: { readonly line_number: number; readonly content: string };
}

/** Keeps live lines as they come and looks into them later, to leave the machine to what is measured. */
class Viewer {
  readonly opened: Promise<unknown>;
  readonly #socket: WebSocket;
  readonly #told: { readonly text: Buffer; readonly at: bigint }[] = [];
  #isLive = false;
  #live: (() => void) | undefined;
  #wanted = Infinity;
  #seen: (() => void) | undefined;

  constructor(http: string, token: string) {
    this.#socket = new WebSocket(`ws://${http}/api/v1/ws`, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    this.opened = once(this.#socket, "open");
    this.#socket.on("message", (text: Buffer) => this.#receive(text));
  }

  /** Resolves when the history is over, which is empty: what comes from now on is live. */
  async follow({ pipelineId, jobId, stepRunId }: Step): Promise<void> {
    const live = new Promise<void>((resolve) => (this.#live = resolve));
    this.#socket.send(JSON.stringify({ channel: "channel_log", params: { pipelineId, jobId, stepRunId } }));
    await withDeadline(live, () => "no history of the log came");
  }

  /** Resolves when so many messages came. */
  async sees(count: number): Promise<void> {
    const seen = new Promise<void>((resolve) => (this.#seen = resolve));
    this.#wanted = count;
    await withDeadline(seen, () => `of ${count} lines only ${this.#told.length} came`);
  }

  lines(): readonly (SeenLine & { readonly number: number })[] {
    return this.#told.map(({ text, at }) => {
      const { type, data, error } = JSON.parse(text.toString()) as ViewerMessage;
      if (type !== "log") throw new Error(`a viewer got ${type} amid live lines: ${error ?? ""}`);
      return { number: data.line_number, content: data.content, at };
    });
  }

  close(): void {
    this.#socket.terminate();
  }

  #receive(text: Buffer): void {
    if (this.#isLive) {
      if (this.#told.push({ text, at: process.hrtime.bigint() }) === this.#wanted) this.#seen!();
      return;
    }
    this.#isLive = (JSON.parse(text.toString()) as ViewerMessage).type === "history_done";
    if (this.#isLive) this.#live!();
  }
}

async function withDeadline(wanted: Promise<void>, describe: () => string): Promise<void> {
  const over = new AbortController();
  const late = pause(PATIENCE_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(describe());
  });
  late.catch(() => {});
  await Promise.race([wanted, late]);
  over.abort();
}

/** How fast the program of the burst is by itself: no figure can be higher. */
async function writtenAlone(): Promise<number> {
  const from = process.hrtime.bigint();
  await promisify(execFile)("awk", [BURST], { maxBuffer: Infinity });
  return BURST_LINES / secondsBetween(from, process.hrtime.bigint());
}

function secondsBetween(from: bigint, to: bigint): number {
  return Number(to - from) / 1e9;
}
