/** `millrace run FILE`: one run of a definition on this machine, on a temporary installation that leaves nothing behind. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { readNodeConfig } from "../../settings/config.ts";
import { parseDefinition } from "../../definition/parse.ts";
import { isFinalRunStatus } from "../../domain/status.ts";
import type { ApiClient } from "../api-client.ts";
import { readSettings } from "../command-line.ts";
import { renderDiagnostics } from "../diagnostics.ts";
import { EXIT } from "../exit-codes.ts";
import { followRun, readLog } from "../follow-run.ts";
import { type LocalInstallation, startLocalInstallation } from "../local-installation.ts";
import { createLogger } from "../logging.ts";
import { readDefinitionText } from "../read-definition.ts";
import { RunApprovals } from "../run-approvals.ts";
import type { RunDetail } from "../run-tree.ts";
import { logLine, RunView, stepTitle } from "../run-view.ts";
import { paintFor, Screen } from "../screen.ts";
import { parseVariables } from "../variables.ts";

const SHOWN_LINES = 50;
const STOP_WAIT_MS = 15_000;

export interface RunOptions {
  /** `name=value` texts. */
  readonly var: readonly string[];
  readonly verbose?: boolean;
  readonly approve?: boolean;
}

/** Resolves with 0 when the run succeeded, else 1. Rejects with the reason of `signal` once the run is stopped. */
export async function run(file: string, options: RunOptions, signal: AbortSignal): Promise<number> {
  const variables = { checkout: process.cwd(), ...parseVariables(options.var) };
  const spec = await readDefinition(file);
  if (spec === undefined) return EXIT.failure;
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-run-"));
  try {
    const local = await startPrivateInstallation(dataDir, signal);
    try {
      return await runToEnd(local.api, spec, basename(file), variables, options, signal);
    } finally {
      await local.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The structured definition, or undefined when it has errors, which are then printed. */
async function readDefinition(path: string): Promise<unknown> {
  const read = await readDefinitionText(path);
  const { definition, diagnostics } = parseDefinition(read.text, read.format, { includes: read.includes });
  const lines = renderDiagnostics(read, diagnostics, paintFor(process.stderr));
  process.stderr.write(lines.map((line) => `${line}\n`).join(""));
  // The pipeline of the temporary installation is inline, so it gets the definition with what it includes.
  return definition?.source.value;
}

function startPrivateInstallation(dataDir: string, signal: AbortSignal): Promise<LocalInstallation> {
  const free = "127.0.0.1:0";
  // The settings of the environment are not used: they may describe a real installation.
  const config = readSettings(() =>
    readNodeConfig({
      MILLRACE_HTTP_ADDRESS: free,
      MILLRACE_GRPC_ADDRESS: free,
      MILLRACE_METRICS_ADDRESS: free,
      MAILBOX_SHARDS: "1",
      LOG_LEVEL: process.env["LOG_LEVEL"],
    }),
  );
  const verboseLogs = config.logLevel !== null;
  const log = createLogger(config.logLevel ?? "warn", verboseLogs ? undefined : join(dataDir, "control-plane.log"));
  return startLocalInstallation({ config, dataDir, log, verboseLogs, outlives: false, onReady: () => {}, signal });
}

async function runToEnd(
  api: ApiClient,
  spec: unknown,
  name: string,
  variables: Readonly<Record<string, string>>,
  { verbose = false, approve = false }: RunOptions,
  signal: AbortSignal,
): Promise<number> {
  const screen = new Screen(process.stdout);
  const { pipelineId } = await api.createPipeline(name, "");
  await api.saveSpec(pipelineId, spec);
  const { runId } = await api.trigger(pipelineId, variables);
  const view = new RunView(screen, { name });
  const approvals = new RunApprovals(api, screen, approve);
  const update = (state: RunDetail): void => {
    view.update(state);
    approvals.update(state);
  };
  const follower = { update, ...(verbose ? { log: view.log.bind(view) } : {}) };
  try {
    const ended = await followRun(api, runId, follower, signal);
    view.end(ended);
    if (!verbose) await printFailures(api, screen, ended, signal);
    return ended.status === "success" ? EXIT.ok : EXIT.failure;
  } catch (error) {
    if (!signal.aborted) throw error;
    const stopped = await stopRun(api, pipelineId, runId);
    if (stopped !== undefined) view.end(stopped);
    throw signal.reason;
  }
}

/** Stops the run. Resolves with its final state, or with undefined when it does not end in time; then the agent's end ends its steps. */
async function stopRun(api: ApiClient, pipelineId: string, runId: string): Promise<RunDetail | undefined> {
  await api.stop(pipelineId, runId, "interrupted at the command line").catch(() => {});
  let last: RunDetail | undefined;
  const follower = { update: (state: RunDetail) => (last = state) };
  await followRun(api, runId, follower, AbortSignal.timeout(STOP_WAIT_MS)).catch(() => {});
  return last !== undefined && isFinalRunStatus(last.status) ? last : undefined;
}

async function printFailures(api: ApiClient, screen: Screen, ended: RunDetail, signal: AbortSignal): Promise<void> {
  for (const job of ended.jobs) {
    for (const step of job.steps) {
      if (step.status !== "failed" && step.status !== "timeout") continue;
      const entries = await readLog(api, ended.pipelineId, job, step, signal);
      const left = entries.length - SHOWN_LINES;
      const rest = left > 0 ? `, last ${SHOWN_LINES} of ${entries.length} lines (all with --verbose)` : "";
      const title = stepTitle(job, step);
      const head = entries.length === 0 ? `${title} has written no lines` : `Log of ${title}${rest}`;
      screen.print("", screen.paint("bold", head));
      screen.print(...entries.slice(-SHOWN_LINES).map((entry) => logLine(screen.paint, job, step, entry)));
    }
  }
}
