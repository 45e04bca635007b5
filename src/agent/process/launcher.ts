/**
 * The agent's side of its launcher: it starts the processes of steps, by starters where they work, and reports them as lost
 * if the launcher dies.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { join } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { programFile } from "../../program-files.ts";
import { openAgentClock } from "./agent-clock.ts";
import { checkLaunch } from "./launch-script.ts";
import type { Launch, LauncherRequest, LauncherReport, ProcessExit } from "./launch-protocol.ts";
import { killAllMarked } from "./kill-all.ts";
import { RemoteKeeper } from "./remote-keeper.ts";
import { Starters } from "./starters.ts";
import { BY_MARK, cgroupFolderOf, starterOf, type StepIsolation } from "./step-isolation.ts";
import type { Owner } from "./step-user.ts";
import { type Moment, momentReader } from "./time-jump.ts";

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
  /** What waits for the end of the hold. */
  #onResumed: (() => void)[] = [];
  readonly #now: () => Moment = momentReader(openAgentClock());
  readonly #launches = new Map<number, Launched>();
  /** That of the launcher and the starters beside it. */
  #keeper!: RemoteKeeper;
  /** Undefined where each step has a supervisor. */
  #starters: Starters | undefined;
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
    this.#channel ??= this.#open();
    if (this.#starters !== undefined) {
      while (this.#hold !== undefined) await this.#resumedOr(signal);
      return this.#starters.start(launch, signal);
    }
    const id = ++this.#started;
    const channel = this.#channel;
    return new Promise((resolve, reject) => {
      const send = (request: LauncherRequest) => sendTo(channel, request);
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
    if (this.#hold !== undefined) this.#send({ type: "resume", hold: this.#hold });
    this.#endHold();
  }

  /** Ends the launcher, which ends all processes of steps. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const channel = this.#channel;
    if (channel?.pid === undefined || channel.exitCode !== null || channel.signalCode !== null) return;
    const gone = once(channel, "exit");
    await this.#starters?.end();
    if (channel.connected) channel.disconnect();
    // A step may have stopped it.
    channel.kill("SIGCONT");
    await gone;
  }

  /** Resolves when the hold ends. Rejects with `unavailable` when `signal` is aborted before. */
  #resumedOr(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(refused("it was asked to end before it began"));
      if (signal?.aborted === true) return refuse();
      signal?.addEventListener("abort", refuse, { once: true });
      this.#onResumed.push(() => {
        signal?.removeEventListener("abort", refuse);
        resolve();
      });
    });
  }

  #endHold(): void {
    this.#hold = undefined;
    for (const resume of this.#onResumed.splice(0)) resume();
  }

  #send(request: LauncherRequest): void {
    if (this.#channel !== undefined) sendTo(this.#channel, request);
  }

  #open(): ChildProcess {
    const env = Object.fromEntries(INHERITED.map((name) => [name, process.env[name]]));
    const name = randomUUID();
    const options = [...[this.#isolation, this.#user ?? null].map((value) => JSON.stringify(value)), name];
    const main = programFile("launcher-main", import.meta.url);
    const channel = spawn(process.execPath, [...main.options, ...SMALL, main.path, ...options], {
      env,
      // The last one is there to close when the launcher ends.
      stdio: ["ignore", "ignore", "ignore", "ipc", "pipe"],
      detached: true,
    });
    channel.on("message", (reports: readonly LauncherReport[]) => {
      for (const report of reports) this.#receive(report);
    });
    channel.once("error", (error) => this.#died(channel, error.message));
    // A launcher that the system refuses to start has none.
    const lifeline = channel.pid === undefined ? undefined : (channel.stdio[4] as Socket);
    // Node does not close a connection that it has passed to another process.
    channel.once("exit", () => lifeline?.destroy());
    channel.once("exit", (code, signal) => this.#died(channel, signal ?? `exit ${code}`));
    // The process of a step that runs as another user needs a shell of the agent's user first: see supervisor.ts.
    const hasStarters = starterOf(this.#isolation) !== undefined && this.#user === undefined;
    this.#keeper = new RemoteKeeper((request) => sendTo(channel, request));
    this.#starters = hasStarters ? this.#openStarters(name, channel, lifeline) : undefined;
    return channel;
  }

  #openStarters(name: string, channel: ChildProcess, lifeline: Socket | undefined): Starters {
    return new Starters({
      name,
      cgroupFolder: cgroupFolderOf(this.#isolation),
      keeper: this.#keeper,
      lifeline,
      onChange: (groups) => sendTo(channel, { type: "starters", groups }),
      onBusy: (isBusy) => sendTo(channel, { type: "busy", since: isBusy ? this.#now() : null }),
    });
  }

  #receive(report: LauncherReport): void {
    if (report.type === "held") {
      this.#hold = report.hold;
      // Those that the launcher has not heard of, it has found by their marks alone.
      this.#starters?.watchAll();
      return this.#onHeld(report.jumpMs);
    }
    if (report.type === "kept") return this.#keeper.receive(report.report);
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
    const [orphans, starters, keeper] = [[...this.#launches.values()], this.#starters, this.#keeper];
    const steps = orphans.length + (starters?.running ?? 0);
    this.#log.warn({ ending, steps }, "the launcher of this agent has ended; its steps are lost");
    this.#launches.clear();
    const leaseMarks = [...orphans.map(({ leaseMark }) => leaseMark), ...(starters?.leaseMarks ?? [])];
    const marks = new Set([...leaseMarks, ...keeper.unconfirmed]);
    const folder = cgroupFolderOf(this.#isolation);
    // The watchers of a killed launcher do the same. The agent does it too, to know when it is done.
    const killed = [...marks].map((mark) => killAllMarked(mark, folder === undefined ? "" : join(folder, mark)));
    const cleared = Promise.all([...killed, starters?.end()]).then(() => {
      for (const orphan of orphans) orphan.onLost();
    });
    keeper.lose(cleared);
    this.#cleared = cleared;
    this.#endHold();
  }
}

function refused(reason: string): MillraceError {
  return new MillraceError("unavailable", `the step's process cannot be started: ${reason}`);
}

function sendTo(channel: ChildProcess, request: LauncherRequest): void {
  if (channel.connected) channel.send(request, () => {});
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
    this.#reject(refused(reason));
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
