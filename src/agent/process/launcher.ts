/** The agent's side of its launcher: starts processes of steps through it, and answers for them when it dies. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { checkLaunch } from "./launch-script.ts";
import type { Launch, LauncherRequest, LauncherReport, ProcessExit } from "./launch-protocol.ts";
import { MARK, SWEEP } from "./kill-script.ts";

const here = fileURLToPath(import.meta.url);
const MAIN_FILE = fileURLToPath(new URL(`launcher-main${extname(here)}`, import.meta.url));

/** A fork copies the page tables of all that is in memory: garbage is collected before there is much of it. */
const SMALL = ["--max-semi-space-size=1"];

/** What of the agent's environment the launcher needs; steps get theirs with their start. */
const INHERITED = ["PATH", "HOME", "TMPDIR"];

/** A process of a step that was started. */
export interface LaunchedProcess {
  /** Resolves when the process has ended, others of the step may still live; undefined when nobody knows how it ended. */
  readonly exited: Promise<ProcessExit | undefined>;
  /** Resolves after `exited`, when nothing of the step is left. */
  readonly gone: Promise<void>;
  /** Sends a signal to the whole group; nothing happens once the process itself has ended. */
  signal(name: NodeJS.Signals): void;
  /** Ends everything that belongs to the step. Idempotent. */
  kill(): void;
}

/**
 * $1: what the marks begin with. The watchers of a launcher that was killed do the same; this tells when it is done.
 */
const SWEEP_ALL = `${SWEEP}\nsweep "$1"`;

export class Launcher {
  readonly #log: Logger;
  readonly #launches = new Map<number, Launched>();
  #channel: ChildProcess | undefined;
  /** Resolves when nothing is left of what an earlier launcher has started. */
  #cleared: Promise<unknown> = Promise.resolve();
  #started = 0;
  #isClosed = false;

  constructor(log: Logger) {
    this.#log = log;
    this.#channel = this.#open();
  }

  /** Resolves when a process may be started: nothing is left of what a launcher before has started. */
  whenReady(): Promise<unknown> {
    return this.#cleared;
  }

  /**
   * Starts a process, once. Rejects with `malformed_request` for arguments and variables that no process can be given, and
   * with `unavailable` when the system refuses to start one.
   */
  async start(launch: Launch): Promise<LaunchedProcess> {
    checkLaunch(launch);
    const channel = (this.#channel ??= this.#open());
    const id = ++this.#started;
    return new Promise((resolve, reject) => {
      const tell = (order: LauncherRequest) => void (channel.connected && channel.send(order, () => {}));
      this.#launches.set(id, new Launched(id, launch.leaseMark, tell, resolve, reject));
      tell({ type: "start", id, launch });
    });
  }

  /** Ends the launcher, and with it whatever still runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const channel = this.#channel;
    if (channel?.pid === undefined || channel.exitCode !== null || channel.signalCode !== null) return;
    const gone = once(channel, "exit");
    if (channel.connected) channel.disconnect();
    await gone;
  }

  #open(): ChildProcess {
    const env = Object.fromEntries(INHERITED.map((name) => [name, process.env[name]]));
    const channel = spawn(process.execPath, [...process.execArgv, ...SMALL, MAIN_FILE], {
      env,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      detached: true,
    });
    channel.on("message", (report: LauncherReport) => this.#hear(report));
    channel.once("error", (error) => this.#died(channel, error.message));
    channel.once("exit", (code, signal) => this.#died(channel, signal ?? `exit ${code}`));
    return channel;
  }

  #hear(report: LauncherReport): void {
    const launched = this.#launches.get(report.id);
    if (launched === undefined) return;
    if (report.type === "refused" || report.type === "gone") this.#launches.delete(report.id);
    switch (report.type) {
      case "started":
        return launched.onStarted();
      case "refused":
        return launched.onRefused(report.reason);
      case "exited":
        return launched.onExited(report.exit);
      case "gone":
        return launched.onGone();
    }
  }

  #died(channel: ChildProcess, ending: string): void {
    if (this.#channel !== channel || this.#isClosed) return;
    this.#channel = undefined;
    this.#log.warn({ ending, steps: this.#launches.size }, "the launcher of this agent has ended; its steps are lost");
    const orphans = [...this.#launches.values()];
    this.#launches.clear();
    const marks = new Set(orphans.map(({ leaseMark }) => leaseMark));
    this.#cleared = Promise.all([...marks].map(sweepAll)).then(() => {
      for (const orphan of orphans) orphan.onLost();
    });
  }
}

class Launched implements LaunchedProcess {
  readonly leaseMark: string;
  readonly exited: Promise<ProcessExit | undefined>;
  readonly gone: Promise<void>;
  readonly #id: number;
  readonly #tell: (order: LauncherRequest) => void;
  readonly #resolve: (process: LaunchedProcess) => void;
  readonly #reject: (error: MillraceError) => void;
  onExited!: (exit: ProcessExit | undefined) => void;
  onGone!: () => void;

  constructor(
    id: number,
    leaseMark: string,
    tell: (order: LauncherRequest) => void,
    resolve: (process: LaunchedProcess) => void,
    reject: (error: MillraceError) => void,
  ) {
    this.#id = id;
    this.leaseMark = leaseMark;
    this.#tell = tell;
    this.#resolve = resolve;
    this.#reject = reject;
    this.exited = new Promise((exited) => (this.onExited = exited));
    this.gone = new Promise((gone) => (this.onGone = gone));
  }

  signal(name: NodeJS.Signals): void {
    this.#tell({ type: "signal", id: this.#id, signal: name });
  }

  kill(): void {
    this.#tell({ type: "kill", id: this.#id });
  }

  onStarted(): void {
    this.#resolve(this);
  }

  onRefused(reason: string): void {
    this.#reject(new MillraceError("unavailable", `the step's process cannot be started: ${reason}`));
  }

  /** Nobody knows whether it was started, or how it ended; nothing of it is left. */
  onLost(): void {
    this.#resolve(this);
    this.onExited(undefined);
    this.onGone();
  }
}

function sweepAll(leaseMark: string): Promise<void> {
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", [MARK]: leaseMark };
  return new Promise((resolve) => {
    execFile("/bin/sh", ["-c", SWEEP_ALL, "millrace-sweep", leaseMark], { env, cwd: "/" }, () => resolve());
  });
}
