/** `millrace start`: a whole installation on this machine, and its sample pipeline to look at. */
import { join, resolve } from "node:path";
import { readNodeConfig } from "../../config.ts";
import { readSettings } from "../command-line.ts";
import { claimDataDir, defaultDataDir } from "../../node/data-dir.ts";
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

/** Answers the exit status with `once`, else rejects with the reason of `signal`, or with what failed. */
export async function start(options: StartOptions, signal: AbortSignal): Promise<number> {
  const config = readSettings(() => readNodeConfig(process.env));
  const dataDir = resolve(options.dataDir ?? config.dataDir ?? defaultDataDir());
  const screen = new Screen(process.stdout);
  const release = await claimDataDir(dataDir);
  try {
    // Between the lines of a live view there is no room for a log, unless one is asked for.
    const logFile = config.logLevel === null ? join(dataDir, "control-plane.log") : undefined;
    const log = createLogger(config.logLevel ?? "warn", logFile);
    screen.print(screen.paint("bold", `millrace ${packageVersion()}`));
    const local = await startLocalInstallation({
      config,
      dataDir,
      log,
      verboseLogs: logFile === undefined,
      onReady: (part, how) => screen.print(`${screen.paint("green", "✔")} ${part.padEnd(14)}${how}`),
      signal,
    });
    try {
      return await work(local, screen, dataDir, options, signal);
    } finally {
      screen.settle();
      if (signal.aborted) screen.print("", "Ending what was started ...");
      await local.stop();
    }
  } finally {
    release();
  }
}

async function work(
  local: LocalInstallation,
  screen: Screen,
  dataDir: string,
  { once = false, newToken = false }: StartOptions,
  signal: AbortSignal,
): Promise<number> {
  const token = newToken ? await local.newAdminToken() : local.plane.adminToken;
  screen.print("", `  URL    ${local.url}`);
  if (token !== null) screen.print(`  Token  ${token}`, "         of the administrator, shown only now");
  screen.print(`  More   another token: millrace start --new-token`, `  Data   ${dataDir}`, "");
  const run = await showSample(local.api, screen, { always: once, signal });
  if (once) return run?.status === "success" ? EXIT.ok : EXIT.failure;
  screen.print("", "Serving. Ctrl-C ends it; the next start goes on from here.");
  await aborted(signal);
  throw signal.reason;
}
