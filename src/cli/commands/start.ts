/** `millrace start`: a whole installation on this machine, with a sample pipeline. */
import { join, resolve } from "node:path";
import { type NodeConfig, readNodeConfig } from "../../settings/config.ts";
import { clearAfterDeadAgent } from "../../agent/folders/data-dir.ts";
import { MillraceError } from "../../domain/errors.ts";
import { readSettings } from "../command-line.ts";
import { agentDataDir, claimDataDir, defaultDataDir, isFreeDataDir } from "../../node/data-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { aborted } from "../interruption.ts";
import { type LocalInstallation, startLocalInstallation } from "../local-installation.ts";
import { createLogger } from "../logging.ts";
import { misspeltVariables } from "../misspelt-variables.ts";
import { packageVersion } from "../../node/package-root.ts";
import { freeQuietGarbage } from "../../node/quiet-garbage.ts";
import { GitSample, type GitSampleWays, SAMPLE_NETWORK } from "../sample/git-sample.ts";
import { showSample } from "../sample/hello-sample.ts";
import { Screen } from "../screen.ts";

export interface StartOptions {
  readonly once?: boolean;
  readonly dataDir?: string;
  readonly newToken?: boolean;
}

/** With `once`, resolves with the exit status. Otherwise rejects with the reason of `signal` or with the failure. */
export async function start(options: StartOptions, signal: AbortSignal): Promise<number> {
  const config = readSettings(() => readNodeConfig(process.env));
  const dataDir = resolve(options.dataDir ?? config.dataDir ?? defaultDataDir());
  const screen = new Screen(process.stdout);
  const release = await claimDataDir(dataDir);
  let gitSample: GitSample | MillraceError | undefined;
  try {
    if (config.mongodb === null && (await isFreeDataDir(dataDir))) await GitSample.plan(dataDir);
    // The log goes to a file, so that it does not disturb the live view, unless LOG_LEVEL asks for a log.
    const logFile = config.logLevel === null ? join(dataDir, "control-plane.log") : undefined;
    const log = createLogger(config.logLevel ?? "warn", logFile);
    // What a dead agent left may be what fills the disk, so it goes before the node asks how much is free.
    await clearAfterDeadAgent(agentDataDir(dataDir), log);
    screen.print(screen.paint("bold", `millrace ${packageVersion()}`), ...misspeltVariables(process.env));
    if (options.once !== true) gitSample = await GitSample.open(dataDir).catch(onlyMillraceError);
    const reachesSample = gitSample instanceof GitSample;
    const local = await startLocalInstallation({
      config: reachesSample ? reachingSample(config) : config,
      dataDir,
      log,
      verboseLogs: logFile === undefined,
      outlives: true,
      onReady: (part, how) => screen.print(`${screen.paint("green", "✔")} ${part.padEnd(14)}${how}`),
      signal,
    });
    const endLooks = freeQuietGarbage();
    try {
      return await showInstallation(local, screen, { ...options, dataDir, gitSample }, signal);
    } finally {
      endLooks();
      screen.settle();
      if (signal.aborted) screen.print("", "Shutting down ...");
      await local.stop();
    }
  } finally {
    if (gitSample instanceof GitSample) await gitSample.stop();
    release();
  }
}

/** The sample is an extra: when Git cannot serve it, the installation starts without it, and says why. */
function onlyMillraceError(error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  throw error;
}

function reachingSample(config: NodeConfig): NodeConfig {
  return { ...config, git: { ...config.git, networks: [...config.git.networks, SAMPLE_NETWORK] } };
}

interface ShownOptions extends StartOptions {
  readonly dataDir: string;
  readonly gitSample: GitSample | MillraceError | undefined;
}

async function showInstallation(
  local: LocalInstallation,
  screen: Screen,
  { once = false, newToken = false, dataDir, gitSample }: ShownOptions,
  signal: AbortSignal,
): Promise<number> {
  const token = newToken ? await local.newAdminToken() : await local.node.firstToken();
  screen.print("", `  URL    ${local.url}`, "         open it in a browser, and log in with the token");
  if (token !== null) screen.print(`  Token  ${token}`, "         of the administrator; it is shown only once");
  screen.print(`  More   for another token: millrace start --new-token`, `  Data   ${dataDir}`, "");
  const connecting = gitSample instanceof GitSample ? connect(gitSample, local) : Promise.resolve(gitSample);
  const run = await showSample(local.api, screen, { always: once, signal });
  if (once) return run?.status === "success" ? EXIT.ok : EXIT.failure;
  screen.print(...linesOf(await connecting));
  screen.print("", "Serving. Ctrl-C ends it; the next start continues with the same data.");
  await aborted(signal);
  throw signal.reason;
}

function connect(
  sample: GitSample,
  { api, url }: LocalInstallation,
): Promise<GitSampleWays | MillraceError | undefined> {
  return sample.connect(api, url).catch(onlyMillraceError);
}

function linesOf(sample: GitSampleWays | MillraceError | undefined): string[] {
  if (sample === undefined) return [];
  if (sample instanceof MillraceError) return ["", `The sample in Git is left out: ${sample.message}`];
  const lines = [
    "",
    `  Git    the pipeline hello-git is in ${sample.repository}`,
    "         a push to main runs it, and so does a save in the browser",
  ];
  return sample.command === null
    ? lines
    : [...lines, "  Hook   so does this line, in another shell:", `         ${sample.command}`];
}
