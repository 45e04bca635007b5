/** A system that runs any steps on command: from that, all its workloads follow, with the check that no step was lost. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Figure, Marks, System, WorkloadName } from "../system.ts";
import type { StepOrder } from "./child-steps.ts";
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

export interface RunOrder {
  readonly id: string;
  readonly order: "sequential" | "parallel";
  readonly steps: readonly StepOrder[];
}

export interface Engine {
  readonly name: string;
  readonly processes: readonly MeasuredProcess[];
  /** Runs of W1 in a round. */
  readonly throughputRuns: number;
  /** Triggers a run; resolves when it has ended, rejects when a step failed. */
  run(order: RunOrder): Promise<void>;
  /** What ran in the worker since the last call. */
  takeStepCounts(): Promise<StepCounts>;
  /** Rejects when one of its processes has ended; never resolves. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
}

const ROUND_MS = 120_000;
const NO_OP = ["/bin/true"] as const;

/** The system of an engine. */
export function systemOf(engine: Engine, marks: Marks): System {
  // The marks are shared with other systems, and with the next start of this one.
  const prefix = `${engine.name.replaceAll(/\W/g, "")}-${randomBytes(4).toString("hex")}`;
  let runs = 0;
  engine.broken.catch(() => {}); // Between two rounds nobody waits for it.

  /** One round: every step that was ordered in it ran exactly once, or it throws. */
  async function round(measure: (run: typeof engine.run) => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
    const wanted: string[] = [];
    const over = new AbortController();
    const deadline = pause(ROUND_MS, undefined, { signal: over.signal }).then(() => {
      throw new Error(`${engine.name}: a round was not over after ${ROUND_MS} ms`);
    });
    deadline.catch(() => {});
    let fault: unknown;
    let figures: readonly Figure[] = [];
    try {
      const measured = measure((order) => {
        wanted.push(...order.steps.map(({ id }) => id));
        return engine.run(order);
      });
      figures = await Promise.race([measured, engine.broken, deadline]);
    } catch (error) {
      fault = error;
    } finally {
      over.abort();
    }
    expectOnce(wanted, await engine.takeStepCounts(), fault);
    if (fault !== undefined) throw fault;
    return figures;
  }

  function ordered(order: RunOrder["order"], steps: number): RunOrder {
    const id = `${prefix}-run-${runs++}`;
    return {
      id,
      order,
      steps: Array.from({ length: steps }, (_, index) => ({ id: `${id}-${index}`, command: NO_OP })),
    };
  }

  const elapsed = (times: number, order: RunOrder["order"], steps: number) =>
    round((run) => measureElapsed(times, () => run(ordered(order, steps))));

  return {
    name: engine.name,
    workloads: {
      W1: () =>
        round((run) => measureThroughput(engine.throughputRuns, engine.processes, () => run(ordered("sequential", 1)))),
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
