/**
 * One process of a step under its supervisor: a process group of its own that ends with its lifeline, a pipe whose other
 * end only this process holds. The system closes it also when the agent is killed, so no step outlives its agent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { closeWriteEnd, type FifoPool, type OutputPipe } from "./fifo-pool.ts";

/** Environment variable by which a process is known to belong to a step, wherever it went. */
const MARK = "MILLRACE_STEP_MARK";

/**
 * $1: the mark, $2: PATH of the supervisor, then the command. Descriptor 3 is the lifeline.
 *
 * The watcher is forked twice, so that the step does not find a child that it never started (a program that waits for all
 * its children would wait for ever). On the end of the lifeline it kills what carries the mark, in or outside of the group
 * (Linux; again until there is nothing left, since processes fork), then the group with itself. It ignores the signals by
 * which a step is asked to end, and holds none of the step's descriptors. Nothing is assigned outside of the watcher: a
 * variable of that name might be the step's.
 *
 * The watcher carries the mark too. A grep that does not find it (BusyBox's reads no further than the first zero byte) is
 * of no use; then the shell reads the environments itself, which is slower.
 */
const SCRIPT = `
( {
  trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2
  read -r line
  PATH=$2
  LC_ALL=C
  export PATH LC_ALL
  unset ${MARK} LD_PRELOAD
  if [ -r /proc/self/environ ] && read -r self rest </proc/self/stat; then
    rounds=0
    killed=yes
    while [ -n "$killed" ] && [ "$rounds" -lt 20 ]; do
      rounds=$((rounds + 1))
      killed=
      files=$(grep -lsF -e "${MARK}=$1" /proc/[0-9]*/environ)
      case $files in
        */$self/*) ;;
        *)
          files=
          for file in /proc/[0-9]*/environ; do
            while read -r line || [ -n "$line" ]; do
              case $line in *"${MARK}=$1"*) files="$files $file" ;; esac
            done <"$file"
          done ;;
      esac
      for file in $files; do
        pid=\${file#/proc/}
        pid=\${pid%/environ}
        if [ "$pid" != "$self" ] && kill -KILL "$pid"; then killed=yes; fi
      done
    done
  fi
  kill -KILL 0
} <&3 3<&- >/dev/null 2>&1 & )
exec 3<&-
shift 2
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
  /** Unique to the step run and its grant; letters, digits, `_` and `-`. */
  readonly mark: string;
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
    if (this.#running) killGroup(this.#pid, name);
  }

  /** Ends everything that belongs to the step and resolves when the process has ended and the watcher is gone. Idempotent. */
  async sweep(): Promise<void> {
    if (!this.#lifeline.closed) {
      const gone = once(this.#lifeline, "close");
      // A watcher that was stopped, or cannot keep up, is ended with what is left.
      const timer = setTimeout(() => killGroup(this.#pid, "SIGKILL"), SWEEP_MS);
      this.#lifeline.end();
      await gone;
      clearTimeout(timer);
    }
    await this.exited;
  }
}

function spawnSupervisor(
  { command, cwd, env, mark }: ProcessStart,
  stdout: OutputPipe,
  stderr: OutputPipe,
): ChildProcess {
  const path = process.env["PATH"] ?? "/usr/bin:/bin";
  return spawn("/bin/sh", ["-c", SCRIPT, "millrace-step", `${mark};`, path, ...command], {
    cwd,
    // Not the first one: see the watcher's test of grep.
    env: { ...env, [MARK]: `${mark};` },
    stdio: ["ignore", stdout.writeEnd, stderr.writeEnd, "pipe"],
    detached: true,
  });
}

function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    // Gone, or another user's by now: neither can be helped from here.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
