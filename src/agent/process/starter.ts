/**
 * A starter: one process below the launcher that forks the processes of all steps under one lease, and waits for them.
 * Such a step needs no shell and no watcher of its own: when the launcher has ended, the starter kills what it has
 * started. All that it forks has the mark of the lease, also before it becomes the program of a step, so the guard finds
 * it at every moment. When the starter itself is killed, the launcher kills its steps.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { join } from "node:path";
import type { Socket } from "node:net";
import { ownPath } from "../../program-path.ts";
import { endCgroup, makeCgroup, processesOf } from "./cgroups.ts";
import { KILL_ALL, MARK } from "./kill-script.ts";
import { type Launch, LAUNCH_OBSTACLES, type LaunchObstacle, type ProcessExit } from "./launch-protocol.ts";
import { killLeftovers, readPidPosition, signalProcesses } from "./leftover-processes.ts";
import { starterCommand } from "./starter-script.ts";
import type { StepProcess } from "./step-process.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** The names of signals by their numbers. */
const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]));

export interface StarterOptions {
  /** The prefix of the marks of all processes under the lease. */
  readonly leaseMark: string;
  /** The prefix of the marks of all that this starter starts. It begins with `leaseMark`. */
  readonly prefix: string;
  /** The cgroup that holds one cgroup for each step; undefined without cgroups. */
  readonly cgroupFolder: string | undefined;
  readonly meter: UsageMeter;
}

export class Starter {
  readonly leaseMark: string;
  /** Resolves when the starter has ended and no process of its steps is left. */
  readonly gone: Promise<void>;
  readonly #options: StarterOptions;
  readonly #child: ChildProcess;
  readonly #connection: Socket;
  readonly #environment: Readonly<Record<string, string>>;
  /** Those whose end the starter has not told. */
  readonly #processes = new Map<string, StartedProcess>();
  #made = 0;
  #text = "";
  #isReady = false;
  /** True once it was asked to end. */
  #isEnding = false;
  #hasEnded = false;

  /** Throws when the system refuses to start it. */
  constructor(options: StarterOptions) {
    const { leaseMark, prefix, cgroupFolder } = options;
    this.#options = options;
    this.leaseMark = leaseMark;
    if (cgroupFolder !== undefined) makeCgroup(cgroupFolder);
    const [program, ...args] = starterCommand(KILL_ALL, this.#killArguments) ?? [""];
    // The mark must not be the first variable: see KILL_MARKED.
    this.#environment = { PATH: ownPath(), LC_ALL: "C", [MARK]: prefix };
    const child = spawn(program, args, {
      cwd: "/",
      env: this.#environment,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      detached: true,
    });
    child.on("error", () => {});
    if (child.pid === undefined) throw new Error("the system refuses to start the process that forks steps");
    this.#child = child;
    this.#connection = child.stdio[3] as Socket;
    this.#connection.setEncoding("latin1");
    this.#connection.on("error", () => {}); // "exit" follows.
    this.#connection.on("data", (text: string) => this.#receive(text));
    this.gone = once(child, "exit").then(() => this.#ended());
  }

  get isRunning(): boolean {
    return !this.#hasEnded && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get isUsed(): boolean {
    return this.#processes.size > 0;
  }

  /** Its process group, which holds no step. */
  get group(): number {
    return this.#child.pid!;
  }

  start(launch: Launch): StepProcess {
    const id = String(++this.#made);
    const { leaseMark, prefix, cgroupFolder, meter } = this.#options;
    const mark = `${prefix}${id};`;
    const cgroup = cgroupFolder === undefined ? undefined : join(cgroupFolder, mark);
    const process = new StartedProcess({ leaseMark, mark, cgroup, meter });
    this.#processes.set(id, process);
    const { command, cwd, env, stdin = "/dev/null", stdout, stderr, permitFile } = launch;
    // A shell that changes its folder sets PWD.
    const variables = Object.entries({ PWD: cwd, ...env, [MARK]: mark }).map(([name, value]) => `${name}=${value}`);
    const places = [cgroup ?? "", mark, cwd, stdin, stdout, stderr, permitFile];
    const request = Buffer.from([id, ...places, command.length, ...command, ...variables].join("\0"));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(request.length);
    this.#connection.write(Buffer.concat([length, request]));
    return process;
  }

  /** Ends the starter and all that it has started. */
  end(): void {
    this.#isEnding = true;
    this.#connection.end();
  }

  get #killArguments(): [prefix: string, cgroups: string] {
    const { prefix, cgroupFolder } = this.#options;
    return [prefix, cgroupFolder === undefined ? "" : join(cgroupFolder, prefix)];
  }

  #receive(text: string): void {
    const lines = (this.#text + text).split("\n");
    this.#text = lines.pop()!;
    for (const line of lines) {
      const [kind, id = "", ...rest] = line.split(" ");
      if (kind === "ready") this.#isReady = true;
      const process = this.#processes.get(id);
      if (kind === "f" || kind === "x") this.#processes.delete(id);
      process?.receive(kind!, rest);
    }
  }

  /** Kills and removes what a killed starter has left. */
  async #ended(): Promise<void> {
    this.#hasEnded = true;
    const left = [...this.#processes.values()];
    this.#processes.clear();
    if (!this.#isReady) {
      for (const process of left) process.receive("f", ["the process that forks steps cannot be started"]);
      return;
    }
    // A starter that was killed has left the cgroup of its spare process, too.
    if (left.length === 0 && this.#isEnding) return;
    await new Promise<void>((resolve) => {
      const args = ["-c", KILL_ALL, "millrace-kill", ...this.#killArguments];
      execFile("/bin/sh", args, { env: this.#environment, cwd: "/" }, () => resolve());
    });
    for (const process of left) process.lose();
  }
}

interface StartedProcessOptions {
  readonly leaseMark: string;
  readonly mark: string;
  readonly cgroup: string | undefined;
  readonly meter: UsageMeter;
}

class StartedProcess implements StepProcess {
  readonly leaseMark: string;
  readonly begun: Promise<void>;
  readonly exited: Promise<ProcessExit | undefined>;
  readonly #options: StartedProcessOptions;
  readonly #startPosition = readPidPosition();
  #onBegun!: () => void;
  #onRefused!: (error: Error) => void;
  #onExited!: (exit: ProcessExit | undefined) => void;
  /** The id of the process and of its group; undefined until it is known. */
  #pid: number | undefined;
  #hasEnded = false;
  #obstacle: LaunchObstacle | undefined;
  /** False once the starter has told that no process of the cgroup is left. */
  #hasCgroup: boolean;
  #end: Promise<void> | undefined;

  constructor(options: StartedProcessOptions) {
    this.#options = options;
    this.leaseMark = options.leaseMark;
    this.#hasCgroup = options.cgroup !== undefined;
    this.begun = new Promise((resolve, reject) => {
      this.#onBegun = resolve;
      this.#onRefused = reject;
    });
    this.exited = new Promise((resolve) => (this.#onExited = resolve));
  }

  /** Takes an answer of the starter: see starter-script.ts. */
  receive(kind: string, words: readonly string[]): void {
    const [first = "", second = "", third = ""] = words;
    switch (kind) {
      case "s":
        this.#pid = Number(first);
        this.#options.meter.begin(this.#pid, () => this.#pid!);
        return this.#onBegun();
      case "f":
        this.#hasEnded = true;
        return this.#onRefused(new Error(words.join(" ")));
      case "o":
        this.#obstacle = LAUNCH_OBSTACLES.find((obstacle) => obstacle === first);
        return;
      case "x":
        if (third === "0") this.#hasCgroup = false;
        return this.#exit(Number(first), Number(second));
    }
  }

  /** The starter was killed, and so were its steps. */
  lose(): void {
    this.#hasEnded = true;
    if (this.#pid !== undefined) this.#options.meter.endOf(this.#pid, 0);
    this.#end ??= Promise.resolve();
    this.#onBegun();
    this.#onExited(undefined);
  }

  signal(name: NodeJS.Signals): void {
    if (this.#pid === undefined || this.#hasEnded) return;
    // The process leads no group during its first moment.
    if (!sendSignal(-this.#pid, name)) sendSignal(this.#pid, name);
  }

  signalOthers(name: NodeJS.Signals): void {
    if (this.#options.cgroup !== undefined) signalProcesses(processesOf(this.#options.cgroup), name);
  }

  kill(): Promise<void> {
    return (this.#end ??= this.#killAll());
  }

  async #killAll(): Promise<void> {
    const { cgroup, mark, meter } = this.#options;
    const isThere = await this.begun.then(
      () => true,
      () => false,
    );
    if (!isThere) return;
    if (!this.#hasEnded) meter.sampleNow();
    this.signal("SIGKILL");
    if (this.#hasCgroup) await endCgroup(cgroup!);
    await killLeftovers(this.#pid!, mark, this.#startPosition);
    await this.exited;
  }

  #exit(status: number, cpuMs: number): void {
    this.#hasEnded = true;
    const number = status & 0x7f;
    const usage = this.#options.meter.endOf(this.#pid!, cpuMs);
    this.#onExited({
      code: number === 0 ? status >> 8 : null,
      signal: number === 0 ? null : (SIGNALS.get(number) ?? (`SIG${number}` as NodeJS.Signals)),
      ...(usage === undefined ? {} : { usage }),
      ...(this.#obstacle === undefined ? {} : { obstacle: this.#obstacle }),
    });
  }
}

/** False when there is no such process or group. */
function sendSignal(id: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(id, name);
    return true;
  } catch {
    return false;
  }
}
