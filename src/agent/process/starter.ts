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
import { MAX_SPARE_REQUEST_BYTES, starterCommand } from "./starter-script.ts";
import type { StepKeeper } from "./step-keeper.ts";

/** A starter that was asked to end has so much time. */
const END_MS = 2_000;
/** For a step that runs longer than this, the next spare process is not made after it but beside it. */
const SPARE_BESIDE_MS = 20;

export interface StarterOptions {
  /** The prefix of the marks of all processes under the lease. */
  readonly leaseMark: string;
  /** The prefix of the marks of all that this starter starts. It begins with `leaseMark`. */
  readonly prefix: string;
  /** The cgroup that holds one cgroup for each step; undefined without cgroups. */
  readonly cgroupFolder: string | undefined;
  readonly keeper: StepKeeper;
  /**
   * A connection whose other end the launcher holds: when that closes, the starter ends with all that it has started. Absent
   * without a launcher.
   */
  readonly lifeline?: Socket | undefined;
}

/** A process that waits for a step. */
interface Spare {
  readonly id: string;
  readonly pid: number;
}

export class Starter {
  readonly leaseMark: string;
  /** Resolves when the starter has ended and no process of its steps is left. */
  readonly gone: Promise<void>;
  readonly #options: StarterOptions;
  readonly #child: ChildProcess;
  readonly #connection: Socket;
  /** Leads to the spare process. */
  readonly #requests: Socket;
  /** Those whose end the starter has not told. */
  readonly #processes = new Map<string, StartedProcess>();
  readonly #pids = new Set<number>();
  #spare: Spare | undefined;
  /** The last one that was given a step. */
  #given: Spare | undefined;
  #spareTimer: NodeJS.Timeout | undefined;
  #made = 0;
  #text = "";
  #isReady = false;
  /** True once it was asked to end. */
  #isEnding = false;
  #hasEnded = false;

  /** Throws when the system refuses to start it. */
  constructor(options: StarterOptions) {
    const { leaseMark, prefix, cgroupFolder, lifeline } = options;
    this.#options = options;
    this.leaseMark = leaseMark;
    if (cgroupFolder !== undefined) makeCgroup(cgroupFolder);
    const [program, ...args] = starterCommand(KILL_ALL, this.#killArguments) ?? [""];
    // The mark must not be the first variable: see KILL_MARKED.
    const env = { PATH: ownPath(), LC_ALL: "C", [MARK]: prefix };
    const child = spawn(program, args, {
      cwd: "/",
      env,
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe", lifeline ?? "pipe"],
      detached: true,
    });
    child.on("error", () => {});
    if (child.pid === undefined) throw new Error("the system refuses to start the process that forks steps");
    this.#child = child;
    this.#connection = child.stdio[3] as Socket;
    this.#connection.setEncoding("latin1");
    this.#connection.on("error", () => {}); // "exit" follows.
    this.#connection.on("data", (text: string) => this.#receive(text));
    this.#requests = child.stdio[4] as Socket;
    this.#requests.on("error", () => {}); // Its reader has ended: the starter tells of that.
    this.gone = once(child, "exit").then(() => this.#ended());
  }

  get isRunning(): boolean {
    return !this.#hasEnded && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get isUsed(): boolean {
    return this.#processes.size > 0;
  }

  /** True while a process that was forked before waits for the next step. */
  get hasSpare(): boolean {
    return this.#spare !== undefined;
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
    const spare = this.#spare;
    if (spare !== undefined) {
      const mark = this.#markOf(spare.id);
      const request = requestOf(spare.id, this.#cgroupOf(mark), mark, launch);
      if (request.length <= MAX_SPARE_REQUEST_BYTES) return this.#give(spare, mark, request);
    }
    const id = String(++this.#made);
    const mark = this.#markOf(id);
    const process = this.#open(id, mark);
    this.#connection.write(requestOf(id, this.#cgroupOf(mark), mark, launch));
    return process;
  }

  /** Has the spare process become that of a step. */
  #give(spare: Spare, mark: string, request: Buffer): StartedProcess {
    const { id, pid } = spare;
    [this.#spare, this.#given] = [undefined, spare];
    const process = this.#open(id, mark);
    this.#requests.write(request);
    process.receive("s", [String(pid)]);
    this.#spareTimer = setTimeout(() => this.#connection.write(framed(id)), SPARE_BESIDE_MS);
    return process;
  }

  #open(id: string, mark: string): StartedProcess {
    const { keeper } = this.#options;
    const process = new StartedProcess({ mark, cgroup: this.#cgroupOf(mark), keeper, siblings: this.#pids });
    this.#processes.set(id, process);
    return process;
  }

  #markOf(id: string): string {
    return `${this.#options.prefix}${id};`;
  }

  #cgroupOf(mark: string): string | undefined {
    const { cgroupFolder } = this.#options;
    return cgroupFolder === undefined ? undefined : join(cgroupFolder, mark);
  }

  /** Ends the starter and all that it has started. Idempotent. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#connection.end();
    this.#requests.destroy();
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
      if (kind === "r") {
        this.#spare = { id, pid: Number(rest[0]) };
        continue;
      }
      const process = this.#processes.get(id);
      if (kind === "f" || kind === "x") {
        this.#processes.delete(id);
        if (this.#spare?.id === id) this.#spare = undefined;
        // Its starter makes another one by itself.
        if (this.#given?.id === id) clearTimeout(this.#spareTimer);
      }
      process?.receive(kind!, rest);
    }
  }

  /** Kills and removes what a killed starter has left. */
  async #ended(): Promise<void> {
    this.#hasEnded = true;
    this.#spare = undefined;
    // A spare process that was not killed with the starter ends now.
    this.#requests.destroy();
    clearTimeout(this.#spareTimer);
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

/** The request for a process: see starter-script.ts. */
function requestOf(id: string, cgroup: string | undefined, mark: string, launch: Launch): Buffer {
  const { command, cwd, env, stdin = "/dev/null", stdout, stderr, permitFile } = launch;
  // A shell that changes its folder sets PWD.
  const variables = Object.entries({ PWD: cwd, ...env, [MARK]: mark }).map(([name, value]) => `${name}=${value}`);
  const places = [cgroup ?? "", mark, cwd, stdin, stdout, stderr, permitFile];
  return framed([id, ...places, command.length, ...command, ...variables].join("\0"));
}

/** The text behind its length. */
function framed(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(4 + length);
  bytes.writeUInt32BE(length);
  bytes.write(text, 4);
  return bytes;
}
