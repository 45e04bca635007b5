/** `millrace agent`: an agent on this machine, which runs until a signal ends it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type AgentVariables, readAgentConfigFile } from "../../settings/agent-file.ts";
import { runAgent } from "../../agent/run-agent.ts";
import { type AgentConfig, readAgentConfig } from "../../settings/config.ts";
import { MillraceError } from "../../domain/errors.ts";
import { awaitKeeper } from "../agent-keeper.ts";
import { readSettings } from "../command-line.ts";
import { defaultDataDir } from "../../node/data-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { watchStdin } from "../../node/lifeline.ts";
import { reachableAddress } from "../../node/listen.ts";
import { createLogger } from "../logging.ts";
import { misspeltVariables } from "../misspelt-variables.ts";
import { packageVersion } from "../../node/package-root.ts";

const ORPHAN_EXIT_MS = 2_000;
/** After the drain, or after a second signal, the process ends by force when the shutdown takes longer than this. */
const SHUTDOWN_MS = 20_000;
const READABLE_BY_ALL = 0o004;

export interface AgentOptions {
  readonly config?: string;
  readonly printConfig?: boolean;
  readonly gateway?: string;
  readonly security?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly identityTokenFile?: string;
  readonly name?: string;
  readonly slots?: string;
  readonly once?: boolean;
  readonly maxJobs?: string;
  readonly idleExit?: string;
  readonly labels?: string;
  readonly facts?: string;
  readonly stepUser?: string;
  readonly pluginDirs?: string;
  readonly dataDir?: string;
  readonly drainTimeout?: string;
  readonly minFreeDisk?: string;
  readonly stepIsolation?: string;
  readonly containerEngine?: string;
  readonly containerImages?: string;
  readonly imageCache?: string;
  readonly isolation?: string;
  readonly isolationNetwork?: string;
  readonly stepMemory?: string;
  readonly stepPids?: string;
  readonly stepCpus?: string;
  readonly logBuffer?: string;
  readonly pluginCache?: string;
  /** Set when another process starts the agent: the agent ends when that process closes the pipe to its stdin. */
  readonly lifeline?: boolean;
  /**
   * Set when another process starts the agent and a later one may take it up: the socket on which the agent waits for
   * them, and the digest of its settings.
   */
  readonly keeperSocket?: string;
  readonly keeperSettings?: string;
}

const VARIABLES = {
  gateway: "MILLRACE_GATEWAY",
  security: "MILLRACE_GATEWAY_SECURITY",
  ca: "MILLRACE_GATEWAY_CA_FILE",
  cert: "MILLRACE_GATEWAY_CERT_FILE",
  key: "MILLRACE_GATEWAY_KEY_FILE",
  identityTokenFile: "MILLRACE_IDENTITY_TOKEN_FILE",
  name: "MILLRACE_AGENT_NAME",
  slots: "MILLRACE_AGENT_SLOTS",
  maxJobs: "MILLRACE_AGENT_MAX_JOBS",
  idleExit: "MILLRACE_AGENT_IDLE_EXIT",
  labels: "MILLRACE_AGENT_LABELS",
  facts: "MILLRACE_AGENT_FACTS",
  stepUser: "MILLRACE_STEP_USER",
  pluginDirs: "MILLRACE_AGENT_PLUGIN_DIRS",
  dataDir: "MILLRACE_DATA_DIR",
  drainTimeout: "MILLRACE_AGENT_DRAIN_TIMEOUT",
  minFreeDisk: "MILLRACE_AGENT_MIN_FREE_DISK",
  stepIsolation: "MILLRACE_AGENT_STEP_ISOLATION",
  containerEngine: "MILLRACE_AGENT_CONTAINER_ENGINE",
  containerImages: "MILLRACE_AGENT_CONTAINER_IMAGES",
  imageCache: "MILLRACE_AGENT_IMAGE_CACHE",
  isolation: "MILLRACE_AGENT_ISOLATION",
  isolationNetwork: "MILLRACE_AGENT_ISOLATION_NETWORK",
  stepMemory: "MILLRACE_AGENT_STEP_MEMORY",
  stepPids: "MILLRACE_AGENT_STEP_PIDS",
  stepCpus: "MILLRACE_AGENT_STEP_CPUS",
  logBuffer: "MILLRACE_AGENT_LOG_BUFFER",
  pluginCache: "MILLRACE_AGENT_PLUGIN_CACHE",
} as const satisfies Partial<Record<keyof AgentOptions, string>>;

/**
 * Runs the agent. Resolves with 0 when the agent has ended by itself. Rejects with the reason of `signal` after the drain,
 * or with the reason why the agent cannot work.
 * `urgent` ends the drain at once. With `printConfig`, prints the settings and resolves with 0.
 */
export async function agent(options: AgentOptions, signal: AbortSignal, urgent: AbortSignal): Promise<number> {
  const { config, warning } = readSettings(() => readConfig(options));
  if (options.printConfig === true) {
    process.stdout.write(`${JSON.stringify(withoutSecrets(config), null, 2)}\n`);
    return EXIT.ok;
  }
  const log = createLogger(config.logLevel ?? "info");
  if (warning !== undefined) log.warn({}, warning);
  for (const text of misspeltVariables(process.env)) log.warn({}, text);
  for (const dir of config.pluginDirs) {
    if (!existsSync(dir))
      log.warn({ dir }, "there is no such folder of plugins; its plugins are found once it is there");
  }
  const orphaned = new AbortController();
  const endOrphaned = () => {
    log.warn({}, "the process that started this agent has ended");
    orphaned.abort();
    setTimeout(() => process.exit(EXIT.failure), ORPHAN_EXIT_MS).unref();
  };
  if (options.lifeline === true) watchStdin(endOrphaned);
  let workLeftMs = () => 0;
  const { keeperSocket: socket, keeperSettings: settings = "" } = options;
  const stopWaiting =
    socket === undefined
      ? () => {}
      : await awaitKeeper({
          socket,
          settings,
          pid: process.pid,
          workLeftMs: () => workLeftMs(),
          onAbandoned: endOrphaned,
        });
  const ending = AbortSignal.any([signal, orphaned.signal]);
  // When a local installation ends, its steps end at once. Their jobs run again when it is started again.
  const isLocal = options.lifeline === true || socket !== undefined;
  const drainTimeoutMs = isLocal ? 0 : config.drainTimeoutMs;
  const exitAfter = (ms: number) => setTimeout(() => process.exit(EXIT.failure), ms).unref();
  ending.addEventListener("abort", () => exitAfter(drainTimeoutMs + SHUTDOWN_MS));
  urgent.addEventListener("abort", () => exitAfter(SHUTDOWN_MS));
  const end = await runAgent(
    {
      address: reachableAddress(config.gateway),
      dataDir: dataDirOf(config),
      name: config.name,
      labels: config.labels,
      facts: config.facts,
      slots: config.slots,
      ...(config.maxJobs === null ? {} : { maxJobs: config.maxJobs }),
      ...(config.idleExitMs === null ? {} : { idleExitMs: config.idleExitMs }),
      ...(config.stepUser === null ? {} : { stepUser: config.stepUser }),
      pluginDirs: config.pluginDirs,
      pluginCacheBytes: config.pluginCache,
      ...(config.registrationToken === null ? {} : { registrationToken: config.registrationToken }),
      ...(config.identityTokenFile === null ? {} : { identityTokenFile: config.identityTokenFile }),
      ...(config.security === "tls" ? { tls: tlsOf(config) } : {}),
      insecure: config.security === "plaintext",
      version: packageVersion(),
      log,
      stepIsolation: config.stepIsolation,
      ...containersOf(config),
      ...isolationOf(config),
      stepLimits: config.stepLimits,
      logBufferBytes: config.logBufferBytes,
      minFreeDisk: config.minFreeDisk,
      drainTimeoutMs,
      killSignal: AbortSignal.any([orphaned.signal, urgent]),
      onStart: (agent) => (workLeftMs = agent.workLeftMs),
      onReady: ({ agentId }) => log.info({ agentId }, "ready"),
    },
    ending,
  ).finally(stopWaiting);
  signal.throwIfAborted();
  return end === "finished" ? EXIT.ok : EXIT.failure;
}

function containersOf({ containerEngine: engine, containerImages: images, imageCache: cacheBytes }: AgentConfig) {
  return engine === "off" ? {} : { containers: { engine, images, cacheBytes } };
}

function isolationOf({ isolation: kind, isolationNetwork: hasNetwork }: AgentConfig) {
  return kind === "none" ? {} : { isolation: { kind, hasNetwork } };
}

function tlsOf({ caFile, clientCertificate }: AgentConfig) {
  return {
    ...(caFile === null ? {} : { caFile }),
    ...(clientCertificate === null ? {} : { client: clientCertificate }),
  };
}

/** Flags take precedence over the environment, and the environment over the config file. */
function readConfig(options: AgentOptions): { readonly config: AgentConfig; readonly warning: string | undefined } {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ""));
  const file = options.config ?? environment["MILLRACE_AGENT_CONFIG"];
  const given = options.once === true ? { ...options, maxJobs: "1" } : options;
  const flags = Object.entries(VARIABLES).flatMap(([option, variable]) => {
    const value = given[option as keyof typeof VARIABLES];
    return value === undefined ? [] : [[variable, value] as const];
  });
  const { settings, warning } = file === undefined ? { settings: {} } : readConfigFile(file);
  return { config: readAgentConfig({ ...settings, ...environment, ...Object.fromEntries(flags) }), warning };
}

function readConfigFile(file: string): { readonly settings: AgentVariables; readonly warning?: string } {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(file, "utf8");
    ({ mode } = statSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new MillraceError("malformed_request", `cannot read the agent's config file ${file} (${code ?? message})`, {
      cause: error,
    });
  }
  const settings = readAgentConfigFile(text, file);
  if (settings.MILLRACE_REGISTRATION_TOKEN === undefined || (mode & READABLE_BY_ALL) === 0) return { settings };
  return { settings, warning: `every user of this machine can read the token in ${file}: chmod 600 it` };
}

function dataDirOf({ dataDir }: AgentConfig): string {
  return resolve(dataDir ?? join(defaultDataDir(), "agent"));
}

/** The settings for `--print-config`, without the registration token. */
function withoutSecrets(config: AgentConfig): object {
  const registrationToken = config.registrationToken === null ? null : "(set)";
  return { ...config, registrationToken, gateway: reachableAddress(config.gateway), dataDir: dataDirOf(config) };
}
