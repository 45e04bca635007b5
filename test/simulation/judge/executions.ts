/** The executions of steps, as the machines of the agents saw them: the marks that the judge compares with the store. */
import type { JobRunId, StepRunId } from "../../../src/domain/ids.ts";
import type { Mark } from "../../chaos/check/evidence.ts";
import type { Scheduler } from "../engine/scheduler.ts";
import type { Trace } from "../engine/trace.ts";

export class Executions {
  readonly marks: Mark[] = [];
  readonly #starts = new Map<string, number>();
  readonly #scheduler: Scheduler;
  readonly #trace: Trace;

  constructor(scheduler: Scheduler, trace: Trace) {
    this.#scheduler = scheduler;
    this.#trace = trace;
  }

  /** How often the step at this place of the job was started before; counts the call as a start. */
  countStart(jobId: JobRunId, stepIndex: number): number {
    const key = `${jobId}/${stepIndex}`;
    const before = this.#starts.get(key) ?? 0;
    this.#starts.set(key, before + 1);
    return before;
  }

  mark(word: Mark["word"], stepRunId: StepRunId, jobId: JobRunId): void {
    this.#trace.note(() => `step ${stepRunId} of ${jobId}: ${word}`);
    this.marks.push({ word, stepRunId, jobId, at: this.#scheduler.now });
  }
}
