/** `millrace agent`: an agent on this machine, until it is asked to end. */
import { join, resolve } from "node:path";
import { runAgent } from "../agent/run-agent.ts";
import { readAgentConfig } from "../config.ts";
import { readSettings } from "./command-line.ts";
import { defaultDataDir } from "../plane/data-dir.ts";
import { EXIT } from "./exit-codes.ts";
import { watchStdin } from "../plane/lifeline.ts";
import { reachableAddress } from "../plane/listen.ts";
import { createLogger } from "./logging.ts";
import { packageVersion } from "../plane/package-root.ts";

/** Running jobs may go on this long after a SIGTERM; what is left is killed and runs again elsewhere. */
const DRAIN_MS = 25_000;
const ORPHAN_MS = 2_000;

export interface AgentOptions {
  readonly gateway?: string;
  readonly security?: string;
  readonly ca?: string;
  readonly name?: string;
  readonly slots?: string;
  readonly labels?: string;
  readonly dataDir?: string;
  /** Hangs on the process that holds the other end of stdin. */
  readonly lifeline?: boolean;
}

const VARIABLES = {
  gateway: "MILLRACE_GATEWAY",
  security: "MILLRACE_GATEWAY_SECURITY",
  ca: "MILLRACE_GATEWAY_CA_FILE",
  name: "MILLRACE_AGENT_NAME",
  slots: "MILLRACE_AGENT_SLOTS",
  labels: "MILLRACE_AGENT_LABELS",
  dataDir: "MILLRACE_DATA_DIR",
} as const satisfies Partial<Record<keyof AgentOptions, string>>;

/** Rejects with the reason of `signal` after the drain, or with why the agent cannot work. */
export async function agent(options: AgentOptions, signal: AbortSignal): Promise<number> {
  const flags = Object.entries(VARIABLES).flatMap(([option, variable]) => {
    const value = options[option as keyof typeof VARIABLES];
    return value === undefined ? [] : [[variable, value] as const];
  });
  const config = readSettings(() => readAgentConfig({ ...process.env, ...Object.fromEntries(flags) }));
  const log = createLogger(config.logLevel ?? "info");
  const orphaned = new AbortController();
  if (options.lifeline === true) {
    watchStdin(() => {
      log.warn({}, "the process that started this agent is gone");
      orphaned.abort();
      setTimeout(() => process.exit(EXIT.failure), ORPHAN_MS).unref();
    });
  }
  const ending = AbortSignal.any([signal, orphaned.signal]);
  await runAgent(
    {
      address: reachableAddress(config.gateway),
      dataDir: resolve(config.dataDir ?? join(defaultDataDir(), "agent")),
      name: config.name,
      labels: config.labels,
      slots: config.slots,
      ...(config.registrationToken === null ? {} : { registrationToken: config.registrationToken }),
      ...(config.security === "tls" ? { tls: config.caFile === null ? {} : { caFile: config.caFile } } : {}),
      insecure: config.security === "plaintext",
      version: packageVersion(),
      log,
      // A local installation that ends takes its steps with it; they run again when it is started again.
      logBufferBytes: 256 * 1024 * 1024,
      drainTimeoutMs: options.lifeline === true ? 0 : DRAIN_MS,
      killSignal: orphaned.signal,
      onReady: ({ agentId }) => log.info({ agentId }, "ready"),
    },
    ending,
  );
  signal.throwIfAborted();
  return EXIT.failure;
}
