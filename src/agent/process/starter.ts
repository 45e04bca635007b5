/**
 * A starter: one process below the agent that forks the processes of all steps under one lease, and waits for them.
 * Such a step needs no shell and no watcher of its own: when the agent has ended, the starter kills what it has
 * started. All that it forks has the mark of the lease, also before it becomes the program of a step, so the guard finds
 * it at every moment. When the starter itself is killed, the agent kills its steps.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Socket } from "node:net";
import { ownPath } from "../../program-path.ts";
import { makeCgroup } from "./cgroups.ts";
import { killAllMarked } from "./kill-all.ts";
import { KILL_ALL, MARK } from "./kill-script.ts";
import type { Launch } from "./launch-protocol.ts";
import { signalGroup } from "./process-group.ts";
import { StartedProcess } from "./started-process.ts";
import { starterCommand } from "./starter-script.ts";
import type { StepKeeper } from "./step-keeper.ts";

/** A starter that was asked to end has so much time. */
const END_MS = 2_000;

export interface StarterOptions {
  /** The prefix of the marks of all processes under the lease. */
  readonly leaseMark: string;
  /** The prefix of the marks of all that this starter starts. It begins with `leaseMark`. */
  readonly prefix: string;
  /** The cgroup that holds one cgroup for each step; undefined without cgroups. */
  readonly cgroupFolder: string | undefined;
  readonly keeper: StepKeeper;
}

export class Starter {
  readonly leaseMark: string;
  /** Resolves when the starter has ended and no process of its steps is left. */
  readonly gone: Promise<void>;
  readonly #options: StarterOptions;
  readonly #child: ChildProcess;
  readonly #connection: Socket;
  /** Those whose end the starter has not told. */
  readonly #processes = new Map<string, StartedProcess>();
  readonly #pids = new Set<number>();
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
    const env = { PATH: ownPath(), LC_ALL: "C", [MARK]: prefix };
    const child = spawn(program, args, {
      cwd: "/",
      env,
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

  /** The steps that have not ended. */
  get processes(): Iterable<StartedProcess> {
    return this.#processes.values();
  }

  start(launch: Launch): StartedProcess {
    const id = String(++this.#made);
    const { prefix, cgroupFolder, keeper } = this.#options;
    const mark = `${prefix}${id};`;
    const cgroup = cgroupFolder === undefined ? undefined : join(cgroupFolder, mark);
    const process = new StartedProcess({ mark, cgroup, keeper, siblings: this.#pids });
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

  /** Ends the starter and all that it has started. Idempotent. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#connection.end();
    // A step may have stopped it. What it should have killed is killed when it has ended.
    const timer = setTimeout(() => signalGroup(this.group, "SIGKILL"), END_MS);
    void this.gone.then(() => clearTimeout(timer));
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
      // All steps are killed now, and they are lost.
      if (this.#isEnding) continue;
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
    if (left.length === 0 && this.#isEnding && this.#child.signalCode === null) return;
    await killAllMarked(...this.#killArguments);
    for (const process of left) process.lose();
  }
}
