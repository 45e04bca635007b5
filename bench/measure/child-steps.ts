/** Runs steps as child processes and counts them, in the worker of a compared system. */
import { spawn } from "node:child_process";
import type { StepCounts } from "./step-counts.ts";
import { STEPS_AT_ONCE } from "./workloads.ts";

export interface StepRequest {
  /** Unique among all steps of a measurement. */
  readonly id: string;
  readonly command: readonly [program: string, ...args: string[]];
}

export class ChildSteps {
  #counts = new Map<string, number>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** Runs the step's process as soon as fewer than 50 are running. Rejects unless the process exits with status 0. */
  async run(step: StepRequest): Promise<void> {
    this.#counts.set(step.id, (this.#counts.get(step.id) ?? 0) + 1);
    if (this.#running < STEPS_AT_ONCE) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await runToEnd(step);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next(); // The next step takes over the place.
    }
  }

  /** The steps that ran since the last call. */
  takeCounts(): StepCounts {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }
}

function runToEnd({ id, command: [program, ...args] }: StepRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the step ${id} ended with ${signal ?? `status ${code}`}`));
    });
  });
}
