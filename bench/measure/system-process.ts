/** A process of a compared system. It ends with the harness, and answers the harness which steps it ran. */
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
    this.broken.catch(() => {}); // Callers that wait for this process race against `broken`.
  }

  /**
   * Starts the program with `env` added to this process's environment and with its output in the file `log`. Resolves
   * with the value that the program has passed to {@link attendHarness}.
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

  /** The steps that ran since the last call; only for a process that runs steps. */
  async takeStepCounts(): Promise<StepCounts> {
    const answer = once(this.#child, "message");
    this.#child.send("takeStepCounts");
    const [counts] = (await Promise.race([answer, this.broken])) as [StepCounts];
    return counts;
  }

  /** Kills the process with SIGKILL. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** Called once in the program: reports that it is ready, answers the harness, and ends the process with the harness. */
export function attendHarness(ready: unknown, takeStepCounts?: () => StepCounts): void {
  process.on("message", () => process.send!(takeStepCounts!()));
  process.once("disconnect", () => process.exit());
  process.send!(ready);
}
