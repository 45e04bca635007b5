/**
 * One process of a step under its supervisor: a process group of its own that ends with its lifeline, a pipe whose other
 * end only this process holds. The system closes it also when the agent is killed, so no step outlives its agent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { closeWriteEnd, type FifoPool, type OutputPipe } from "./fifo-pool.ts";
import { signalGroup } from "./process-group.ts";
import { MARK, SWEEP } from "./sweep-script.ts";

/**
 * $1: the mark, $2: PATH of the supervisor, $3: the permit, then the command. Descriptor 3 is the lifeline.
 *
 * Without its permit the step does not start: its agent stood still while its lease ran out (see guard.ts).
 *
 * The watcher is forked twice, so that the step does not find a child that it never started (a program that waits for all
 * its children would wait for ever). On the end of the lifeline it kills what carries the mark, in or outside of the group
 * (Linux), then the group with itself. It ignores the signals by which a step is asked to end, and holds none of the step's
 * descriptors. Nothing is assigned outside of the watcher: a variable of that name might be the step's.
 */
const SCRIPT = `
[ -e "$3" ] || exit
( {
  trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2
  read -r line
  PATH=$2
  LC_ALL=C
  export PATH LC_ALL
  unset LD_PRELOAD
  ${SWEEP}
  sweep "$1"
  kill -KILL 0
} <&3 3<&- >/dev/null 2>&1 & )
exec 3<&-
shift 3
exec "$@"
`;

/** How long the watcher may take to end the group before the agent does it. */
const SWEEP_MS = 2_000;

export interface ProcessStart {
  /** The program, looked up in the PATH of `env`, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Must exist. */
  readonly cwd: string;
  /** Names must be names for a shell, else a shell may leave them out. */
  readonly env: Readonly<Record<string, string>>;
  /** Unique to the step run and its grant: the mark of its lease, then letters, digits, `_` and `-`. */
  readonly mark: string;
  /** The process is not started unless this file is there; it then ends by itself with a code other than 0. */
  readonly permitFile: string;
}

/** How the process itself ended; one of the two is null. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class SupervisedProcess {
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Resolves when the process has ended; others of its group may still live. */
  readonly exited: Promise<ProcessExit>;
  readonly #lifeline: Socket;
  readonly #pid: number;
  #running = true;

  private constructor(child: ChildProcess, pid: number, stdout: Socket, stderr: Socket) {
    this.#pid = pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.exited = new Promise((resolve) =>
      child.once("exit", (code, signal) => {
        this.#running = false;
        resolve({ code, signal });
      }),
    );
    this.#lifeline = child.stdio[3] as Socket;
    this.#lifeline.on("error", () => {}); // "close" follows.
    // Nothing comes this way; reading shows when the watcher, who alone holds the other end, is gone.
    this.#lifeline.resume();
    // A step that has killed its watcher could outlive the agent.
    this.#lifeline.once("close", () => this.#running && this.signal("SIGKILL"));
  }

  /** Starts the process; rejects when the system refuses (no such folder, too many arguments, no more processes). */
  static async start(start: ProcessStart, pipes: FifoPool): Promise<SupervisedProcess> {
    const [stdout, stderr] = [pipes.open(), pipes.open()];
    try {
      const child = spawnSupervisor(start, stdout, stderr);
      if (child.pid === undefined) throw (await once(child, "error"))[0];
      child.on("error", () => {}); // Of `kill`, which this class does not use.
      return new SupervisedProcess(child, child.pid, stdout.reader, stderr.reader);
    } catch (error) {
      stdout.reader.destroy();
      stderr.reader.destroy();
      throw error;
    } finally {
      closeWriteEnd(stdout);
      closeWriteEnd(stderr);
    }
  }

  /** Sends a signal to the whole group; nothing happens once the process itself has ended, as its id may be another's. */
  signal(name: NodeJS.Signals): void {
    if (this.#running) signalGroup(this.#pid, name);
  }

  /** Ends everything that belongs to the step and resolves when the process has ended and the watcher is gone. Idempotent. */
  async sweep(): Promise<void> {
    if (!this.#lifeline.closed) {
      const gone = once(this.#lifeline, "close");
      // A watcher that was stopped, or cannot keep up, is ended with what is left.
      const timer = setTimeout(() => signalGroup(this.#pid, "SIGKILL"), SWEEP_MS);
      this.#lifeline.end();
      await gone;
      clearTimeout(timer);
    }
    await this.exited;
  }
}

function spawnSupervisor(
  { command, cwd, env, mark, permitFile }: ProcessStart,
  stdout: OutputPipe,
  stderr: OutputPipe,
): ChildProcess {
  const path = process.env["PATH"] ?? "/usr/bin:/bin";
  return spawn("/bin/sh", ["-c", SCRIPT, "millrace-step", `${mark};`, path, permitFile, ...command], {
    cwd,
    // Not the first one: see `sweep`.
    env: { ...env, [MARK]: `${mark};` },
    stdio: ["ignore", stdout.writeEnd, stderr.writeEnd, "pipe"],
    detached: true,
  });
}
