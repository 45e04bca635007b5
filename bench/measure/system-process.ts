/** A process of a compared system: a program of this folder tree that ends with the harness and answers its questions. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { StepCounts } from "./step-counts.ts";

export class SystemProcess {
  readonly pid: number;
  /** Rejects when the process ends before `stop`; never resolves. */
  readonly broken: Promise<never>;
  readonly #child: ChildProcess;
  #stopping = false;

  private constructor(child: ChildProcess, program: URL, log: string) {
    this.#child = child;
    this.pid = child.pid!;
    this.broken = new Promise((_, reject) => {
      child.once("exit", (code, signal) => {
        if (this.#stopping) return;
        reject(new Error(`${program.pathname} ended with ${signal ?? `status ${code}`}; its output is in ${log}`));
      });
    });
    this.broken.catch(() => {}); // Whoever waits for something of this process looks at it.
  }

  /**
   * Starts the program with `env` added to this process's environment, and its output in the file `log`; resolves with
   * what it has said to be ready, by {@link attendHarness}.
   */
  static async start<T>(
    program: URL,
    env: Readonly<Record<string, string>>,
    log: string,
  ): Promise<{ readonly process: SystemProcess; readonly ready: T }> {
    const output = openSync(log, "a");
    const child = fork(program, [], {
      execArgv: ["--import", import.meta.resolve("tsx")],
      env: { ...process.env, NODE_ENV: "production", ...env },
      serialization: "advanced",
      stdio: ["ignore", output, output, "ipc"],
    });
    closeSync(output);
    const started = new SystemProcess(child, program, log);
    const [ready] = (await Promise.race([once(child, "message"), started.broken])) as [T];
    return { process: started, ready };
  }

  /** Of a process that runs steps: what ran since the last call. */
  async takeStepCounts(): Promise<StepCounts> {
    const answer = once(this.#child, "message");
    this.#child.send("takeStepCounts");
    const [counts] = (await Promise.race([answer, this.broken])) as [StepCounts];
    return counts;
  }

  /** SIGKILL: nothing of it is kept. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** In the program, once: says that it is ready, answers questions, and ends the process with the harness. */
export function attendHarness(ready: unknown, takeStepCounts?: () => StepCounts): void {
  process.on("message", () => process.send!(takeStepCounts!()));
  process.once("disconnect", () => process.exit());
  process.send!(ready);
}
