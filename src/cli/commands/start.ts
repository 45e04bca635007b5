/** `millrace start`: a whole installation on this machine, with a sample pipeline. */
import { join, resolve } from "node:path";
import { readNodeConfig } from "../../config.ts";
import { clearAfterDeadAgent } from "../../agent/data-dir.ts";
import { readSettings } from "../command-line.ts";
import { agentDataDir, claimDataDir, defaultDataDir } from "../../node/data-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { aborted } from "../interruption.ts";
import { type LocalInstallation, startLocalInstallation } from "../local-installation.ts";
import { createLogger } from "../logging.ts";
import { packageVersion } from "../../node/package-root.ts";
import { showSample } from "../sample.ts";
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
  try {
    // The log goes to a file, so that it does not disturb the live view, unless LOG_LEVEL asks for a log.
    const logFile = config.logLevel === null ? join(dataDir, "control-plane.log") : undefined;
    const log = createLogger(config.logLevel ?? "warn", logFile);
    // What a dead agent left may be what fills the disk, so it goes before the node asks how much is free.
    await clearAfterDeadAgent(agentDataDir(dataDir), log);
    screen.print(screen.paint("bold", `millrace ${packageVersion()}`));
    const local = await startLocalInstallation({
      config,
      dataDir,
      log,
      verboseLogs: logFile === undefined,
      outlives: true,
      onReady: (part, how) => screen.print(`${screen.paint("green", "✔")} ${part.padEnd(14)}${how}`),
      signal,
    });
    try {
      return await showInstallation(local, screen, dataDir, options, signal);
    } finally {
      screen.settle();
      if (signal.aborted) screen.print("", "Shutting down ...");
      await local.stop();
    }
  } finally {
    release();
  }
}

async function showInstallation(
  local: LocalInstallation,
  screen: Screen,
  dataDir: string,
  { once = false, newToken = false }: StartOptions,
  signal: AbortSignal,
): Promise<number> {
  const token = newToken ? await local.newAdminToken() : local.node.adminToken;
  screen.print("", `  URL    ${local.url}`, "         open it in a browser, and log in with the token");
  if (token !== null) screen.print(`  Token  ${token}`, "         of the administrator; it is shown only once");
  screen.print(`  More   for another token: millrace start --new-token`, `  Data   ${dataDir}`, "");
  const run = await showSample(local.api, screen, { always: once, signal });
  if (once) return run?.status === "success" ? EXIT.ok : EXIT.failure;
  screen.print("", "Serving. Ctrl-C ends it; the next start continues with the same data.");
  await aborted(signal);
  throw signal.reason;
}
