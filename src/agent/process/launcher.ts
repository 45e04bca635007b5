/**
 * The agent's side of its launcher: it starts the processes of steps, and reports them as lost if the launcher dies.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { programFile } from "../../program-files.ts";
import { ownPath } from "../../program-path.ts";
import { checkLaunch } from "./launch-script.ts";
import type { Launch, LauncherRequest, LauncherReport, ProcessExit } from "./launch-protocol.ts";
import { KILL_ALL, MARK } from "./kill-script.ts";
import { BY_MARK, cgroupFolderOf, type StepIsolation } from "./step-isolation.ts";
import type { Owner } from "./step-user.ts";

/** Keeps the launcher's memory small by early garbage collection, since a fork copies the page tables of its memory. */
const SMALL = ["--max-semi-space-size=1"];

/** Variables of the agent's environment that the launcher needs. Steps get theirs with their start. */
const INHERITED = ["PATH", "HOME", "TMPDIR"];

/** A process of a step that was started. */
export interface LaunchedProcess {
  /**
   * Resolves when the process itself has ended; other processes of the step may still run. Undefined when the launcher
   * died, so that the exit is unknown.
   */
  readonly exited: Promise<ProcessExit | undefined>;
  /** Resolves after `exited`, when no process of the step is left. */
  readonly gone: Promise<void>;
  /** Sends a signal to the whole process group. No effect once the process itself has ended. */
  signal(name: NodeJS.Signals): void;
  /** Kills all processes of the step. Idempotent. */
  kill(): void;
}

export class Launcher {
  readonly #log: Logger;
  readonly #onHeld: (jumpMs: number) => void;
  readonly #isolation: StepIsolation;
  readonly #user: Owner | undefined;
  /** The hold that lasts, by its number; undefined while steps may run. */
  #hold: number | undefined;
  readonly #launches = new Map<number, Launched>();
  #channel: ChildProcess | undefined;
  /** Resolves when no process of an earlier launcher is left. */
  #cleared: Promise<unknown> = Promise.resolve();
  #started = 0;
  #isClosed = false;

  /**
   * `onHeld` is called when all steps were stopped, because so much time has passed unnoticed that their leases may be
   * over. They continue with {@link resume}, and no step starts before. `user`: as whom steps run; absent: as the agent.
   */
  constructor(log: Logger, onHeld: (jumpMs: number) => void = () => {}, isolation = BY_MARK, user?: Owner) {
    this.#log = log;
    this.#isolation = isolation;
    this.#user = user;
    this.#onHeld = onHeld;
    this.#channel = this.#open();
  }

  /** Resolves when a process may be started, because no process of an earlier launcher is left. */
  whenReady(): Promise<unknown> {
    return this.#cleared;
  }

  /**
   * Starts a process. Rejects with `malformed_request` for arguments and variables that the system cannot pass to a
   * process, and with `unavailable` when the system refuses to start one, or when `signal` was aborted before the start.
   */
  async start(launch: Launch, signal?: AbortSignal): Promise<LaunchedProcess> {
    checkLaunch(launch);
    const channel = (this.#channel ??= this.#open());
    const id = ++this.#started;
    return new Promise((resolve, reject) => {
      const send = (request: LauncherRequest) => void (channel.connected && channel.send(request, () => {}));
      const kill = () => send({ type: "kill", id });
      const started = (process: LaunchedProcess) => {
        signal?.removeEventListener("abort", kill);
        resolve(process);
      };
      this.#launches.set(id, new Launched(id, launch.leaseMark, send, started, reject));
      send({ type: "start", id, launch });
      if (signal?.aborted === true) kill();
      signal?.addEventListener("abort", kill, { once: true });
    });
  }

  /** Lets the steps continue that the last hold has stopped. */
  resume(): void {
    const channel = this.#channel;
    if (this.#hold !== undefined && channel?.connected === true)
      channel.send({ type: "resume", hold: this.#hold } satisfies LauncherRequest, () => {});
    this.#hold = undefined;
  }

  /** Ends the launcher, which ends all processes of steps. */
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
    const options = [this.#isolation, this.#user ?? null].map((value) => JSON.stringify(value));
    const main = programFile("launcher-main", import.meta.url);
    const channel = spawn(process.execPath, [...main.options, ...SMALL, main.path, ...options], {
      env,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      detached: true,
    });
    channel.on("message", (reports: readonly LauncherReport[]) => {
      for (const report of reports) this.#receive(report);
    });
    channel.once("error", (error) => this.#died(channel, error.message));
    channel.once("exit", (code, signal) => this.#died(channel, signal ?? `exit ${code}`));
    return channel;
  }

  #receive(report: LauncherReport): void {
    if (report.type === "held") {
      this.#hold = report.hold;
      return this.#onHeld(report.jumpMs);
    }
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
    this.#hold = undefined;
    this.#log.warn({ ending, steps: this.#launches.size }, "the launcher of this agent has ended; its steps are lost");
    const orphans = [...this.#launches.values()];
    this.#launches.clear();
    const marks = new Set(orphans.map(({ leaseMark }) => leaseMark));
    const folder = cgroupFolderOf(this.#isolation);
    this.#cleared = Promise.all([...marks].map((mark) => killAllMarked(mark, folder))).then(() => {
      for (const orphan of orphans) orphan.onLost();
    });
  }
}

class Launched implements LaunchedProcess {
  readonly leaseMark: string;
  readonly exited: Promise<ProcessExit | undefined>;
  readonly gone: Promise<void>;
  readonly #id: number;
  readonly #send: (request: LauncherRequest) => void;
  readonly #resolve: (process: LaunchedProcess) => void;
  readonly #reject: (error: MillraceError) => void;
  onExited!: (exit: ProcessExit | undefined) => void;
  onGone!: () => void;

  constructor(
    id: number,
    leaseMark: string,
    send: (request: LauncherRequest) => void,
    resolve: (process: LaunchedProcess) => void,
    reject: (error: MillraceError) => void,
  ) {
    this.#id = id;
    this.leaseMark = leaseMark;
    this.#send = send;
    this.#resolve = resolve;
    this.#reject = reject;
    this.exited = new Promise((exited) => (this.onExited = exited));
    this.gone = new Promise((gone) => (this.onGone = gone));
  }

  signal(name: NodeJS.Signals): void {
    this.#send({ type: "signal", id: this.#id, signal: name });
  }

  kill(): void {
    this.#send({ type: "kill", id: this.#id });
  }

  onStarted(): void {
    this.#resolve(this);
  }

  onRefused(reason: string): void {
    this.#reject(new MillraceError("unavailable", `the step's process cannot be started: ${reason}`));
  }

  /**
   * The launcher died: it is unknown whether the process was started and how it ended. No process of the step is left.
   */
  onLost(): void {
    this.#resolve(this);
    this.onExited(undefined);
    this.onGone();
  }
}

/** The watchers and starters of a killed launcher do the same. The agent does it too, to know when it is done. */
function killAllMarked(leaseMark: string, cgroupFolder: string | undefined): Promise<void> {
  const env = { PATH: ownPath(), LC_ALL: "C", [MARK]: leaseMark };
  return new Promise((resolve) => {
    const cgroups = cgroupFolder === undefined ? "" : join(cgroupFolder, leaseMark);
    const args = ["-c", KILL_ALL, "millrace-kill", leaseMark, cgroups];
    execFile("/bin/sh", args, { env, cwd: "/" }, () => resolve());
  });
}
