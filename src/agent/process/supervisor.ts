/**
 * One process of a step under its supervisor. The process has a process group of its own and a lifeline, a pipe whose
 * other end only the launcher holds. When the lifeline closes, the group is killed. The system closes the lifeline even
 * when the launcher is killed, so no step outlives its agent.
 *
 * The supervisor is a shell that is started before it is needed. It waits for the launch script of a step and then
 * becomes the process of that step.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { killLeftovers, readPidPosition } from "./leftover-processes.ts";
import { launchScript } from "./launch-script.ts";
import type { Launch, ProcessExit } from "./launch-protocol.ts";
import { signalGroup } from "./process-group.ts";
import { MARK, KILL_MARKED } from "./kill-script.ts";
import type { Owner } from "./step-user.ts";
import { UsageMeter } from "./usage-meter.ts";

/**
 * The start of the supervisor's standard input; the launch script follows. $2: the mark. Descriptor 3 is the lifeline.
 *
 * The script starts a watcher. The watcher is forked twice, so that it is not a child of the step's process: a program
 * that waits for all its children would wait for the watcher indefinitely. When the lifeline closes, the watcher kills
 * every process with the mark, in or outside of the group (Linux), and then the group with itself. It ignores the
 * signals by which a step is asked to end, and holds none of the step's descriptors. The script assigns no variable
 * outside of the watcher, since the step may have a variable of the same name.
 */
const SCRIPT = `
( {
  trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2
  read -r line
  LC_ALL=C
  export LC_ALL
  ${KILL_MARKED}
  kill_marked "$2"
  kill -KILL 0
} <&3 3<&- >/dev/null 2>&1 & )
exec 3<&-
`;

/** All children of this process are supervisors. */
const meter = new UsageMeter();

export class SupervisedProcess {
  /** The prefix of the marks of all processes under its lease. */
  readonly leaseMark: string;
  /** Resolves when the process itself has ended. Other processes of its group may still run. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #mark: string;
  readonly #lifeline: Socket;
  #startPosition = readPidPosition();
  #running = true;
  #end: Promise<void> | undefined;

  /**
   * Starts a supervisor. Throws when the system refuses. `mark` is unique and begins with `leaseMark`. `user`: as whom it
   * runs; empty: as this process.
   */
  constructor(leaseMark: string, mark: string, user: Partial<Owner> = {}) {
    const child = spawn("/bin/sh", ["-s", "millrace-step", mark], {
      ...user,
      cwd: "/",
      // The mark must not be the first variable: see KILL_MARKED.
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", [MARK]: mark },
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      detached: true,
    });
    // Without a process id, the constructor throws below. Later errors come only from `child.kill`, which is not used
    // here.
    child.on("error", () => {});
    if (child.pid === undefined)
      throw new Error("the system refuses to start another process: too many are running, or its memory is full");
    this.leaseMark = leaseMark;
    this.#child = child;
    this.#pid = child.pid;
    this.#mark = mark;
    this.exited = new Promise((resolve) =>
      child.once("exit", (code, signal) => {
        this.#running = false;
        void meter.end(this.#pid).then((usage) => resolve({ code, signal, ...(usage === undefined ? {} : { usage }) }));
      }),
    );
    this.#lifeline = child.stdio[3] as Socket;
    this.#lifeline.on("error", () => {}); // "close" follows.
    // The watcher alone holds the other end and sends nothing. Reading shows when the watcher has ended.
    this.#lifeline.resume();
    // A step that has killed its watcher could outlive the agent, so it is killed.
    this.#lifeline.once("close", () => this.signal("SIGKILL"));
    child.stdin!.on("error", () => {}); // "exit" follows.
    child.stdin!.write(SCRIPT);
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** The process group of the step. */
  get group(): number {
    return this.#pid;
  }

  /** Makes the supervisor the process of a step. Call it once. */
  become(launch: Launch): void {
    this.#startPosition = readPidPosition();
    meter.begin(this.#pid);
    this.#child.stdin!.end(launchScript({ ...launch, env: { ...launch.env, [MARK]: this.#mark } }));
  }

  /**
   * Sends a signal to the whole group. No effect once the process itself has ended, since its id may be reused then.
   */
  signal(name: NodeJS.Signals): void {
    if (this.#running) signalGroup(this.#pid, name);
  }

  /** Kills all processes of the step, and resolves when none is left. Idempotent. */
  kill(): Promise<void> {
    return (this.#end ??= this.#killAll());
  }

  async #killAll(): Promise<void> {
    if (this.#running) meter.sampleNow();
    const isConfirmed = await killLeftovers(this.#pid, this.#mark, this.#startPosition);
    // Without /proc, the end of the watcher is the best sign of the end of its group.
    if (!isConfirmed && !this.#lifeline.closed) await once(this.#lifeline, "close");
    this.#lifeline.destroy();
    await this.exited;
  }
}
