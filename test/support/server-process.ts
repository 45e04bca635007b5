/** Servers for tests. Each server ends with the test process, even when the test process is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/**
 * A shell script that runs its arguments as a command and kills that command when the script's standard input closes.
 * The test process holds the other end of that pipe; the operating system closes the pipe even when the test process is
 * killed.
 */
export const KILL_WITH_PARENT = '"$@" >/dev/null 2>&1 </dev/null & cat >/dev/null; kill -9 $!; wait';

export class ServerProcess {
  readonly #shell: ChildProcess;

  /** Starts the server and does not wait until the server is ready. */
  constructor(command: readonly string[]) {
    this.#shell = spawn("sh", ["-c", KILL_WITH_PARENT, "sh", ...command], { stdio: ["pipe", "ignore", "ignore"] });
  }

  /** Kills the server with SIGKILL and waits until it has ended. Idempotent. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    const ended = once(this.#shell, "exit");
    this.#shell.stdin?.end();
    await ended;
  }

  get #isOver(): boolean {
    return this.#shell.exitCode !== null || this.#shell.signalCode !== null;
  }
}
