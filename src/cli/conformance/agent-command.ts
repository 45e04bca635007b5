/** The agent under test, when the suite starts it: a program and its arguments, without a shell. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { killAtExit, killGroup } from "../../node/kill-at-exit.ts";

const STOP_WITHIN_MS = 10_000;

export class AgentCommand {
  readonly #argv: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #output: number;
  /** The process group of each start. Processes that the program left there are killed by {@link stop}. */
  readonly #groups: number[] = [];
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve("");

  /** `output` is the file descriptor for the agent's stdout and stderr. */
  constructor(argv: readonly string[], environment: NodeJS.ProcessEnv, output: number) {
    this.#argv = argv;
    this.#environment = environment;
    this.#output = output;
  }

  /** Starts the agent in a process group of its own, so that a Ctrl-C to the suite does not end it. */
  start(): void {
    const [program, ...args] = this.#argv;
    const child = spawn(program!, args, {
      env: this.#environment,
      stdio: ["ignore", this.#output, this.#output],
      detached: true,
    });
    this.#child = child;
    if (child.pid !== undefined) {
      killAtExit(child.pid);
      this.#groups.push(child.pid);
    }
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#child = undefined;
        resolve(how);
      };
      child.once("error", (error) => end(error.message));
      child.once("exit", (code, signal) => end(signal ?? `exit status ${code}`));
    });
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  /** How the agent ended: a signal, an exit status, or why it could not be started. Undefined when it runs for longer than `ms`. */
  ended(ms: number): Promise<string | undefined> {
    return Promise.race([this.#ended, sleep(ms, undefined, { ref: false })]);
  }

  /** Sends the signal to the program alone, not to the processes that it started. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Asks the agent to end, and kills the processes that are left of all its starts. */
  async stop(): Promise<void> {
    this.signal("SIGTERM");
    if (this.running) await this.ended(STOP_WITHIN_MS);
    for (const group of this.#groups) killGroup(group, "SIGKILL");
    await this.#ended;
  }
}
