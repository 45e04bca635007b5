/**
 * The process of one step on the machine of an agent. It runs on while the agent's own process is frozen, and ends with
 * the agent's process: a guard kills it at the end of its lease.
 */
import type { Cancel } from "../../../src/domain/clock.ts";
import type { JobRunId, StepRunId } from "../../../src/domain/ids.ts";
import type { World } from "../engine/world.ts";
import type { Executions } from "../judge/executions.ts";

export interface StepProcessOptions {
  readonly world: World;
  readonly executions: Executions;
  readonly stepRunId: StepRunId;
  readonly jobId: JobRunId;
  readonly workMs: number;
  /** Called when the step has ended by itself. */
  readonly onEnd: () => void;
}

export class StepProcess {
  readonly #options: StepProcessOptions;
  readonly #cancelEnd: Cancel;
  #isRunning = true;

  /** Starts the step. */
  constructor(options: StepProcessOptions) {
    this.#options = options;
    const { world, executions, stepRunId, jobId, workMs } = options;
    executions.mark("start", stepRunId, jobId);
    this.#cancelEnd = world.scheduler.after(workMs, () => {
      if (!this.#isRunning) return;
      this.#isRunning = false;
      executions.mark("end", stepRunId, jobId);
      options.onEnd();
    });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Ends the step at once. Its last mark says until when it has run. */
  kill(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#cancelEnd();
    const { executions, stepRunId, jobId } = this.#options;
    executions.mark("beat", stepRunId, jobId);
  }
}
