/** A process of a step that a starter forks, from the request to the end of all that the step has started. */
import { constants } from "node:os";
import { type LaunchObstacle, LAUNCH_OBSTACLES, type ProcessExit } from "./launch-protocol.ts";
import { leavesNothing, readPidPosition, toldPosition } from "./leftover-processes.ts";
import { signalStarted, type StarterStep, type StepKeeper } from "./step-keeper.ts";

/** The names of signals by their numbers. */
const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]));

export interface StartedProcessOptions {
  readonly mark: string;
  /** Undefined without cgroups. */
  readonly cgroup: string | undefined;
  readonly keeper: StepKeeper;
  /** Ids of the processes of steps that the same starter has forked; this process is among them from its begin to its end. */
  readonly siblings: Set<number>;
}

export class StartedProcess {
  /** Resolves when the process exists; rejects when the system refuses it. */
  readonly begun: Promise<void>;
  /**
   * Resolves when the process itself has ended; other processes of the step may still run. Undefined when its starter
   * has ended, so that the exit is unknown; then no process of the step is left. Never resolves when `begun` rejects.
   */
  readonly exited: Promise<ProcessExit | undefined>;
  /** Resolves after `exited`, when no process of the step is left. */
  readonly gone: Promise<void>;
  readonly #options: StartedProcessOptions;
  readonly #startPosition = readPidPosition();
  #onBegun!: () => void;
  #onRefused!: (error: Error) => void;
  #onExited!: (exit: ProcessExit | undefined) => void;
  #onGone!: () => void;
  /** Undefined before it exists. */
  #step: StarterStep | undefined;
  /** True once the keeper knows of the step. */
  #isKept = false;
  #isKilled = false;
  #hasEnded = false;
  #obstacle: LaunchObstacle | undefined;

  constructor(options: StartedProcessOptions) {
    this.#options = options;
    this.begun = new Promise((resolve, reject) => {
      this.#onBegun = resolve;
      this.#onRefused = reject;
    });
    this.exited = new Promise((resolve) => (this.#onExited = resolve));
    this.gone = new Promise((resolve) => (this.#onGone = resolve));
  }

  /** Takes an answer of the starter: see starter-script.ts. */
  receive(kind: string, words: readonly string[]): void {
    const [first = "", second = "", third = ""] = words;
    switch (kind) {
      case "s":
        return this.#begin(Number(first));
      case "f":
        this.#hasEnded = true;
        return this.#onRefused(new Error(words.join(" ")));
      case "o":
        this.#obstacle = LAUNCH_OBSTACLES.find((obstacle) => obstacle === first);
        return;
      case "x":
        return void this.#end(Number(first), Number(second), third !== "0");
    }
  }

  /** The starter was killed, and so were its steps. */
  lose(): void {
    this.#leave();
    if (this.#isKept) this.#options.keeper.end(this.#step!, { cpuMs: 0 });
    this.#onBegun();
    this.#onExited(undefined);
    this.#onGone();
  }

  /** Sends a signal to the whole process group. No effect once the process itself has ended. */
  signal(name: NodeJS.Signals): void {
    if (this.#step !== undefined && !this.#hasEnded) signalStarted(this.#step.pid, name);
  }

  /** Kills all processes of the step, also when it has not begun yet. Idempotent. */
  kill(): void {
    if (this.#isKilled) return;
    this.#isKilled = true;
    if (this.#step === undefined || this.#hasEnded) return;
    this.#isKept = true;
    this.#options.keeper.kill(this.#step);
  }

  /** The step for the keeper, which is going to be told of it; undefined when it has been, and while no process of it runs. */
  toWatch(): StarterStep | undefined {
    if (this.#step === undefined || this.#hasEnded || this.#isKept) return undefined;
    this.#isKept = true;
    return this.#step;
  }

  #begin(pid: number): void {
    const { mark, cgroup, siblings } = this.#options;
    this.#step = { pid, mark, ...(cgroup === undefined ? {} : { cgroup }) };
    siblings.add(pid);
    if (this.#isKilled) {
      this.#isKilled = false;
      this.kill();
    }
    this.#onBegun();
  }

  async #end(status: number, cpuMs: number, hasCgroup: boolean): Promise<void> {
    this.#leave();
    const { mark, keeper, siblings } = this.#options;
    const own = { cpuMs: Math.round(cpuMs), maxRssBytes: 0 };
    if (!this.#isKept) this.#exit(status, own);
    const isGone = !this.#isKept && !hasCgroup;
    if (isGone && leavesNothing(this.#step!.pid, mark, this.#startPosition, siblings)) return this.#onGone();
    const since = toldPosition(this.#startPosition);
    const { usage, gone } = keeper.end(this.#step!, { cpuMs, ...(since === undefined ? {} : { since }) });
    if (this.#isKept) this.#exit(status, (await usage) ?? own);
    await gone;
    this.#onGone();
  }

  #leave(): void {
    this.#hasEnded = true;
    if (this.#step !== undefined) this.#options.siblings.delete(this.#step.pid);
  }

  #exit(status: number, usage: ProcessExit["usage"]): void {
    const number = status & 0x7f;
    this.#onExited({
      code: number === 0 ? status >> 8 : null,
      signal: number === 0 ? null : (SIGNALS.get(number) ?? (`SIG${number}` as NodeJS.Signals)),
      ...(usage === undefined ? {} : { usage }),
      ...(this.#obstacle === undefined ? {} : { obstacle: this.#obstacle }),
    });
  }
}
