/**
 * `millrace agent-conformance`: tests any agent that speaks agent.v1, on a temporary control plane behind a network that the
 * suite can cut. Leaves nothing behind.
 */
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authenticate } from "../../app/identity/access.ts";
import { signAccessToken } from "../../app/identity/access-tokens.ts";
import { ensureAdministrator } from "../../app/upkeep/bootstrap.ts";
import { issueToken } from "../../app/identity/tokens.ts";
import { type Address, parseAddress } from "../../settings/values.ts";
import { readNodeConfig } from "../../settings/config.ts";
import { type StartedNode, startNode } from "../../node/node.ts";
import { Teardown } from "../../node/teardown.ts";
import { readSettings, UsageError } from "../command-line.ts";
import { AgentCommand } from "../conformance/agent-command.ts";
import { Bench, CaseFailure } from "../conformance/bench.ts";
import type { ConformanceCase } from "../conformance/conformance-case.ts";
import { CONTAINER_CASES } from "../conformance/container-cases.ts";
import { FAULT_CASES } from "../conformance/fault-cases.ts";
import { Network } from "../conformance/network.ts";
import { caseLine, type CaseOutcome, reportOf } from "../conformance/report.ts";
import { STEP_CASES } from "../conformance/step-cases.ts";
import { EXIT } from "../exit-codes.ts";
import { createLogger } from "../logging.ts";
import { paintFor } from "../screen.ts";

/** The first case waits until the agent has registered. When it fails, there is no agent to test. */
const [REGISTRATION_CASE, ...CASES] = [...STEP_CASES, ...FAULT_CASES];
/** The end of the agent's output that is shown after a failure. */
const SHOWN_BYTES = 4_000;

export interface AgentConformanceOptions {
  readonly address: string;
  readonly mode: "push" | "pull";
  /** Adds the cases with containers, which use this image. */
  readonly containerImage?: string;
  /** Run only the cases whose names contain this text. */
  readonly only?: string;
  readonly json?: boolean;
}

/**
 * Runs the cases and resolves with 0 when none fails. `argv` is the agent's program with its arguments; when it is empty,
 * the user starts the agent.
 */
export async function agentConformance(
  argv: readonly string[],
  options: AgentConformanceOptions,
  signal: AbortSignal,
): Promise<number> {
  const address = parseAddress(options.address);
  if (address === undefined) throw new UsageError(`--address must be host:port, not "${options.address}"`);
  const folder = await mkdtemp(join(tmpdir(), "millrace-conformance-"));
  const log = createLogger("warn", join(folder, "control-plane.log"));
  const teardown = new Teardown(log);
  try {
    const node = await startPrivateNode(folder, log, signal);
    teardown.add("the control plane", () => node.stop());
    const { bench, output } = await openBench(node, { folder, address, argv, options, signal }, teardown);
    return await runCases(bench, options, output);
  } finally {
    await teardown.end();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function startPrivateNode(
  dataDir: string,
  log: ReturnType<typeof createLogger>,
  signal: AbortSignal,
): Promise<StartedNode> {
  const free = "127.0.0.1:0";
  // The settings of the environment are not used: they may describe a real installation.
  const config = readSettings(() =>
    readNodeConfig({
      MILLRACE_HTTP_ADDRESS: free,
      MILLRACE_GRPC_ADDRESS: free,
      MILLRACE_METRICS_ADDRESS: free,
      MAILBOX_SHARDS: "1",
    }),
  );
  return startNode(config, { dataDir, log, onReady: () => {}, signal });
}

interface BenchOptions {
  readonly folder: string;
  readonly address: Address;
  readonly argv: readonly string[];
  readonly options: AgentConformanceOptions;
  readonly signal: AbortSignal;
}

/** `output` is the path of the file with the agent's output. */
async function openBench(
  { context, grpc }: StartedNode,
  { folder, address, argv, options, signal }: BenchOptions,
  teardown: Teardown,
): Promise<{ readonly bench: Bench; readonly output: string }> {
  const administrator = await ensureAdministrator(context);
  const caller = await authenticate(context, await signAccessToken(context, administrator.userId));
  const registrationToken = await issueToken(context, {
    kind: "registration",
    subject: administrator.userId,
    name: "conformance",
  });
  const { network, at } = await Network.open(address, parseAddress(grpc!)!);
  teardown.add("the network", () => network.close());
  const output = join(folder, "agent.log");
  const environment = {
    MILLRACE_GATEWAY: at,
    MILLRACE_REGISTRATION_TOKEN: registrationToken,
    MILLRACE_AGENT_NAME: "under-test",
    MILLRACE_DATA_DIR: join(folder, "agent"),
  };
  let command: AgentCommand | null = null;
  if (argv.length > 0) {
    const descriptor = openSync(output, "a", 0o600);
    teardown.add("the agent's output", () => closeSync(descriptor));
    const started = new AgentCommand(argv, { ...process.env, ...environment }, descriptor);
    started.start();
    teardown.add("the agent", () => started.stop());
    command = started;
  } else {
    const { MILLRACE_GATEWAY, MILLRACE_REGISTRATION_TOKEN } = environment;
    const lines = Object.entries({ MILLRACE_GATEWAY, MILLRACE_REGISTRATION_TOKEN }).map(([k, v]) => `${k}=${v}\n`);
    process.stderr.write(`Start the agent with\n${lines.join("")}`);
  }
  const { mode, containerImage = null } = options;
  return { bench: new Bench({ context, caller, network, command, mode, containerImage, signal }), output };
}

async function runCases(bench: Bench, { only, json, mode }: AgentConformanceOptions, output: string): Promise<number> {
  const paint = paintFor(process.stdout);
  const outcomes: CaseOutcome[] = [];
  const all = bench.containerImage === null ? CASES : [...CASES, ...CONTAINER_CASES];
  const selected = all.filter(({ name }) => only === undefined || name.includes(only));
  for (const one of [REGISTRATION_CASE!, ...selected]) {
    const outcome = await outcomeOf(one, bench, mode);
    outcomes.push(outcome);
    if (json !== true) process.stdout.write(`${caseLine(paint, outcome)}\n`);
    if (one === REGISTRATION_CASE && outcome.outcome === "failed") break;
  }
  const report = reportOf(outcomes);
  const { passed, failed, skipped } = report;
  if (json === true) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  if (failed === 0) return EXIT.ok;
  const printed = bench.command === null ? "" : await readFile(output, "utf8");
  if (printed !== "") process.stderr.write(`The end of the agent's output:\n${printed.slice(-SHOWN_BYTES)}\n`);
  return EXIT.failure;
}

async function outcomeOf({ name, needs, run }: ConformanceCase, bench: Bench, mode: string): Promise<CaseOutcome> {
  if (needs === "push" && mode === "pull") return { name, outcome: "skipped", detail: "the agent pulls", ms: 0 };
  if (needs === "command" && bench.command === null) {
    return { name, outcome: "skipped", detail: "the suite did not start the agent", ms: 0 };
  }
  const startedAt = performance.now();
  const ended = (outcome: CaseOutcome["outcome"], detail: string): CaseOutcome => ({
    name,
    outcome,
    detail,
    ms: Math.round(performance.now() - startedAt),
  });
  try {
    return ended("passed", (await run(bench)) ?? "");
  } catch (error) {
    if (!(error instanceof CaseFailure)) throw error;
    return ended("failed", `expected: ${error.message}`);
  } finally {
    await bench.tidy();
  }
}
