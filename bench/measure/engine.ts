/**
 * Makes a measured system of an engine that runs any steps: the workloads W1 to W5, and the check that no step was
 * lost.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Figure, Marks, System, WorkloadName } from "../system.ts";
import type { StepRequest } from "./child-steps.ts";
import { expectOnce, type StepCounts } from "./step-counts.ts";
import {
  FEW_PARALLEL_JOBS,
  MANY_PARALLEL_JOBS,
  measureElapsed,
  type MeasuredProcess,
  measureStarts,
  measureThroughput,
  SEQUENTIAL_STEPS,
} from "./workloads.ts";

export interface RunRequest {
  readonly id: string;
  readonly order: "sequential" | "parallel";
  readonly steps: readonly StepRequest[];
}

export interface Engine {
  readonly name: string;
  readonly processes: readonly MeasuredProcess[];
  /** Number of measured runs of W1 in a round. */
  readonly throughputRuns: number;
  /** Triggers a run. Resolves when the run has ended; rejects when a step failed. */
  run(request: RunRequest): Promise<void>;
  /** The steps that ran in the worker since the last call. */
  takeStepCounts(): Promise<StepCounts>;
  /** Rejects when one of its processes has ended; never resolves. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
}

const ROUND_MS = 120_000;
const NO_OP = ["/bin/true"] as const;

/** The system of an engine. */
export function systemOf(engine: Engine, marks: Marks): System {
  // Other systems use the same marks, and so does the next start of this system.
  const prefix = `${engine.name.replaceAll(/\W/g, "")}-${randomBytes(4).toString("hex")}`;
  let runs = 0;
  engine.broken.catch(() => {}); // Between two rounds, no caller waits for this promise.

  /** Plays one round. Rejects unless every requested step ran exactly once. */
  async function round(measure: (run: typeof engine.run) => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
    const requested: string[] = [];
    const hasEnded = new AbortController();
    const deadline = pause(ROUND_MS, undefined, { signal: hasEnded.signal }).then(() => {
      throw new Error(`${engine.name}: a round did not end within ${ROUND_MS} ms`);
    });
    deadline.catch(() => {});
    let fault: unknown;
    let figures: readonly Figure[] = [];
    try {
      const measured = measure((request) => {
        requested.push(...request.steps.map(({ id }) => id));
        return engine.run(request);
      });
      figures = await Promise.race([measured, engine.broken, deadline]);
    } catch (error) {
      fault = error;
    } finally {
      hasEnded.abort();
    }
    expectOnce(requested, await engine.takeStepCounts(), fault);
    if (fault !== undefined) throw fault;
    return figures;
  }

  function requestOf(order: RunRequest["order"], steps: number): RunRequest {
    const id = `${prefix}-run-${runs++}`;
    return {
      id,
      order,
      steps: Array.from({ length: steps }, (_, index) => ({ id: `${id}-${index}`, command: NO_OP })),
    };
  }

  const elapsed = (times: number, order: RunRequest["order"], steps: number) =>
    round((run) => measureElapsed(times, () => run(requestOf(order, steps))));

  return {
    name: engine.name,
    workloads: {
      W1: () =>
        round((run) =>
          measureThroughput(engine.throughputRuns, engine.processes, () => run(requestOf("sequential", 1))),
        ),
      W2: () =>
        round((run) =>
          measureStarts(marks, `${prefix}-start-${runs++}`, (id) =>
            run({ id, order: "sequential", steps: [{ id, command: marks.command(id) }] }),
          ),
        ),
      W3: () => elapsed(5, "sequential", SEQUENTIAL_STEPS),
      W4: () => elapsed(5, "parallel", FEW_PARALLEL_JOBS),
      W5: () => elapsed(2, "parallel", MANY_PARALLEL_JOBS),
    } satisfies Record<WorkloadName, () => Promise<readonly Figure[]>>,
    stop: () => engine.stop(),
  };
}
