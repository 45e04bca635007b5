/** The agent under test when the suite starts it itself: a program and its arguments, without any shell. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { killAtExit, killGroup } from "../../node/kill-at-exit.ts";

const END_MS = 10_000;

export class AgentCommand {
  readonly #argv: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #output: number;
  /** Of every start: what the program has left there when it ended goes at the end. */
  readonly #groups: number[] = [];
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve("");

  /** `output`: the descriptor that takes what the agent prints. */
  constructor(argv: readonly string[], environment: NodeJS.ProcessEnv, output: number) {
    this.#argv = argv;
    this.#environment = environment;
    this.#output = output;
  }

  /** In a process group of its own, so that a Ctrl-C to the suite does not end it. */
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

  /** How it ended: a signal, an exit status, or why it could not be started; undefined when it has not within `ms`. */
  ended(ms: number): Promise<string | undefined> {
    return Promise.race([this.#ended, sleep(ms, undefined, { ref: false })]);
  }

  /** Signals the program alone, not what it has started. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Asks it to end, and kills what is left of all its starts. */
  async stop(): Promise<void> {
    this.signal("SIGTERM");
    if (this.running) await this.ended(END_MS);
    for (const group of this.#groups) killGroup(group, "SIGKILL");
    await this.#ended;
  }
}
