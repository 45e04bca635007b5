/** Servers for tests that end with the test process, even when that is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/**
 * The shell holds the server's life line: when the pipe on its standard input closes, which the system does even when
 * the test process is killed, it kills the server.
 */
export const LIFE_LINE = '"$@" >/dev/null 2>&1 </dev/null & cat >/dev/null; kill -9 $!; wait';

export class LifeLine {
  readonly #shell: ChildProcess;

  /** Starts the server; it may not be ready yet. */
  constructor(command: readonly string[]) {
    this.#shell = spawn("sh", ["-c", LIFE_LINE, "sh", ...command], { stdio: ["pipe", "ignore", "ignore"] });
  }

  /** SIGKILL to the server. Idempotent. */
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
