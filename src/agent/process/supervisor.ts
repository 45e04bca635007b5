/**
 * One process of a step under its supervisor: a process group of its own that ends with its lifeline, a pipe whose other
 * end only the launcher holds. The system closes it also when the launcher is killed, so no step outlives its agent.
 *
 * The supervisor is a shell that waits, with everything made that a step needs, for the order to become its process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { beginning, killRest } from "./escapees.ts";
import { launchScript } from "./launch-script.ts";
import type { Launch, ProcessExit } from "./launch-protocol.ts";
import { signalGroup } from "./process-group.ts";
import { MARK, SWEEP } from "./kill-script.ts";
import { UsageMeter } from "./usage-meter.ts";

/**
 * $2: the mark. Descriptor 3 is the lifeline. Read from the standard input, where the order follows.
 *
 * The watcher is forked twice, so that the step does not find a child that it never started (a program that waits for all
 * its children would wait for ever). On the end of the lifeline it kills what carries the mark, in or outside of the group
 * (Linux), then the group with itself. It ignores the signals by which a step is asked to end, and holds none of the step's
 * descriptors. Nothing is assigned outside of the watcher: a variable of that name might be the step's.
 */
const SCRIPT = `
( {
  trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2
  read -r line
  LC_ALL=C
  export LC_ALL
  ${SWEEP}
  sweep "$2"
  kill -KILL 0
} <&3 3<&- >/dev/null 2>&1 & )
exec 3<&-
`;

/** All children of this process are supervisors. */
const meter = new UsageMeter();

export class SupervisedProcess {
  /** What the marks of all processes under its lease begin with. */
  readonly leaseMark: string;
  /** Resolves when the process has ended; others of its group may still live. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #mark: string;
  readonly #lifeline: Socket;
  #beginning = beginning();
  #running = true;
  #end: Promise<void> | undefined;

  /** Starts a supervisor; throws when the system refuses. `mark` is unique and begins with `leaseMark`. */
  constructor(leaseMark: string, mark: string) {
    const child = spawn("/bin/sh", ["-s", "millrace-step", mark], {
      cwd: "/",
      // Not the first one: see `sweep`.
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", [MARK]: mark },
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      detached: true,
    });
    child.on("error", () => {}); // Without a process id: thrown below. Else of `kill`, which this class does not use.
    if (child.pid === undefined)
      throw new Error("the system starts no more processes: too many run, or its memory is full");
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
    // Nothing comes this way; reading shows when the watcher, who alone holds the other end, is gone.
    this.#lifeline.resume();
    // A step that has killed its watcher could outlive the agent.
    this.#lifeline.once("close", () => this.signal("SIGKILL"));
    child.stdin!.on("error", () => {}); // "exit" follows.
    child.stdin!.write(SCRIPT);
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Makes it the process of a step, once. */
  become(launch: Launch): void {
    this.#beginning = beginning();
    meter.begin(this.#pid);
    this.#child.stdin!.end(launchScript({ ...launch, env: { ...launch.env, [MARK]: this.#mark } }));
  }

  /** Sends a signal to the whole group; nothing happens once the process itself has ended, as its id may be another's. */
  signal(name: NodeJS.Signals): void {
    if (this.#running) signalGroup(this.#pid, name);
  }

  /** Ends everything that belongs to the step and resolves when nothing of it is left. Idempotent. */
  sweep(): Promise<void> {
    return (this.#end ??= this.#sweep());
  }

  async #sweep(): Promise<void> {
    if (this.#running) meter.lookAgain();
    const isKnown = await killRest(this.#pid, this.#mark, this.#beginning);
    // The watcher is of the group: its end is the best sign of the group's where nothing better can be had.
    if (!isKnown && !this.#lifeline.closed) await once(this.#lifeline, "close");
    this.#lifeline.destroy();
    await this.exited;
  }
}
