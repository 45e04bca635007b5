/** Runs at the limits of a definition, in every shape. */
import { LIMITS } from "../../src/definition/schema/limits.ts";
import type { PlannedCondition, PlannedRetry, RunPlan } from "../../src/domain/plan.ts";
import type { LargeRun } from "./large-runs.ts";
import { approvalOf, type JobSketch, planOf, retryOf } from "./plans.ts";

export interface LargeShape {
  readonly name: string;
  readonly plan: () => RunPlan;
  /** Everything after the trigger. */
  readonly play: (run: LargeRun) => void;
  readonly end: "success" | "failed" | "cancelled" | "running";
}

const STEPS_OF_CELL = 4;
const CELLS = LIMITS.matrixCells;

function times<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** All cells of a matrix that the planner has expanded. */
function matrix(more: JobSketch = {}, name = "matrix", cells: number = CELLS): readonly JobSketch[] {
  return times(cells, (cell) => ({ name: `${name} (${cell})`, baseName: name, matrix: [["cell", cell]], ...more }));
}

/** One job whose cells are made when it begins. */
function lateMatrix(more: JobSketch = {}): JobSketch {
  const axes: [string, readonly number[]][] = [["cell", times(CELLS, (cell) => cell)]];
  return { name: "late", baseName: "late", steps: STEPS_OF_CELL, cells: { axes, include: [], exclude: [] }, ...more };
}

function when(folded: string): PlannedCondition {
  return { written: folded, folded };
}

const one = (...jobs: readonly JobSketch[]) => planOf([jobs]);
const stepRetry: PlannedRetry<"failed" | "timeout"> = { ...retryOf(2), on: ["failed", "timeout"] };

function failAll(run: LargeRun): void {
  run.finish(() => "failed");
}

/** Loses every agent until no job has an attempt left. */
function retryAll(run: LargeRun): void {
  while (run.jobs("queued").length > 0) {
    run.claim(run.jobs("queued"));
    run.loseAgents(run.jobs("running"));
  }
}

/** Stops the run while agents hold every job that may be held at once. */
function stopRunning(run: LargeRun): void {
  run.claim(run.jobs("queued"));
  run.command("stop");
  run.report(run.heldSteps(), "cancelled");
}

function stopAtOnce(run: LargeRun): void {
  run.command("stop");
}

/** Some cells one after the other, as agents with few slots run them, then a stop. */
function someThenStop(run: LargeRun): void {
  for (let cell = 0; cell < 20; cell++) {
    run.claim(run.jobs("queued"));
    run.report(run.heldSteps().slice(0, 1), "succeeded");
  }
  stopRunning(run);
}

function failFirst(run: LargeRun): void {
  run.claim(run.jobs("queued"));
  run.report(run.heldSteps().slice(0, 1), "failed");
  run.report(run.heldSteps(), "cancelled");
}

const finish = (run: LargeRun) => run.finish();

/** Runs with so many steps, so many needs, and matrices of 1,024 cells. */
export function largeShapes({
  steps,
  needs,
}: {
  readonly steps: number;
  readonly needs: number;
}): readonly LargeShape[] {
  const wide = (more: JobSketch = {}) => planOf([times(steps, () => more)]);
  const chain = () => planOf([times(steps, (index) => ({ needs: index === 0 ? [] : [index - 1] }))]);
  const needed = Math.floor(Math.sqrt(needs));
  /** So many cells may each cell of the widest matrix need. */
  const neededCells = Math.floor(needs / CELLS);
  return [
    { name: "wide stage", plan: wide, play: finish, end: "success" },
    { name: "wide stage, all fail", plan: wide, play: failAll, end: "failed" },
    { name: "wide stage, all retried", plan: wide, play: retryAll, end: "failed" },
    { name: "wide stage, stopped while queued", plan: wide, play: stopAtOnce, end: "cancelled" },
    { name: "wide stage, stopped while running", plan: wide, play: stopRunning, end: "cancelled" },
    {
      name: "wide stage, paused and resumed",
      plan: wide,
      play(run) {
        run.command("pause");
        run.command("resume");
      },
      end: "running",
    },
    {
      name: "wide stage, all queue timeouts",
      plan: () => wide({ queueTimeoutMs: 1_000 }),
      play: (run) => run.pass(2_000),
      end: "failed",
    },
    {
      name: "wide stage, all timeouts",
      plan: () => wide({ timeoutMs: 1_000 }),
      play(run) {
        run.claim(run.jobs("queued"));
        run.pass(2_000);
        run.report(run.heldSteps(), "cancelled");
      },
      end: "failed",
    },
    {
      name: "wide stage, all steps retried",
      plan: () => planOf([times(steps / 2, () => ({ steps: [{ retry: stepRetry }, {}] }))]),
      play: failAll,
      end: "failed",
    },
    {
      name: "chain of needs, the first fails",
      plan: chain,
      play: failAll,
      end: "failed",
    },
    {
      name: "chain of needs, stopped",
      plan: chain,
      play: stopAtOnce,
      end: "cancelled",
    },
    {
      name: "many needs",
      plan: () =>
        planOf([[...times(needed, () => ({})), ...times(needed, () => ({ needs: times(needed, (need) => need) }))]]),
      play: finish,
      end: "success",
    },
    {
      name: "many needs, all fail",
      plan: () =>
        planOf([
          [
            ...times(needed, () => ({})),
            ...times(needed, () => ({
              needs: times(needed, (need) => need),
              when: when("cancelled() || failure()"),
            })),
          ],
        ]),
      play: failAll,
      end: "failed",
    },
    {
      name: "one job of all steps, the first fails",
      plan: () => planOf([[{ steps: steps }]]),
      play: failAll,
      end: "failed",
    },
    { name: "matrix", plan: () => one(...matrix({ steps: STEPS_OF_CELL })), play: finish, end: "success" },
    { name: "matrix, maxParallel 4", plan: () => one(...matrix({ maxParallel: 4 })), play: finish, end: "success" },
    {
      name: "matrix, maxParallel 4, stopped",
      plan: () => one(...matrix({ maxParallel: 4 })),
      play: someThenStop,
      end: "cancelled",
    },
    { name: "matrix, maxParallel 512", plan: () => one(...matrix({ maxParallel: 512 })), play: finish, end: "success" },
    {
      name: "matrix, maxParallel 4, half does not run",
      plan: () =>
        one(...matrix({ maxParallel: 4 }).map((cell, at) => ({ ...cell, when: when(at % 2 ? "false" : "true") }))),
      play: finish,
      end: "success",
    },
    { name: "matrix, all retried", plan: () => one(...matrix({ maxParallel: 64 })), play: retryAll, end: "failed" },
    {
      name: "matrix, failFast",
      plan: () => one(...matrix({ steps: STEPS_OF_CELL, failFast: true })),
      play: failFirst,
      end: "failed",
    },
    {
      name: "matrix, failFast, half cannot be evaluated",
      plan: () =>
        one(
          ...matrix({ failFast: true }).map((cell, at) => ({ ...cell, when: when(at % 2 ? "fromJSON('{')" : "true") })),
        ),
      play: finish,
      end: "failed",
    },
    {
      name: "matrix, approval, stopped",
      plan: () => one(...matrix({ approval: approvalOf() })),
      play: stopAtOnce,
      end: "cancelled",
    },
    {
      name: "matrix, approval and maxParallel 4, expired",
      plan: () => one(...matrix({ approval: approvalOf(), maxParallel: 4 })),
      play: (run) => run.pass(3_700_000),
      end: "failed",
    },
    {
      name: "matrix whose result another matrix reads",
      plan: () =>
        one(
          ...matrix({}, "matrix", neededCells),
          ...matrix(
            { needs: times(neededCells, (need) => need), when: when("jobs.matrix.result == 'success'") },
            "reader",
          ),
        ),
      play: finish,
      end: "success",
    },
    {
      name: "matrix whose outputs another matrix reads",
      plan: () =>
        planOf([
          matrix({ outputs: [["value", "${{ steps.one.outputs.value }}"]], steps: [{ id: "one" }] }),
          matrix({ when: when("contains(jobs.matrix.outputs.value, '')") }, "reader"),
        ]),
      play: finish,
      end: "success",
    },
    { name: "late matrix", plan: () => one(lateMatrix()), play: finish, end: "success" },
    {
      name: "late matrix, maxParallel 4",
      plan: () => one(lateMatrix({ maxParallel: 4 })),
      play: finish,
      end: "success",
    },
    { name: "late matrix, all fail", plan: () => one(lateMatrix()), play: failAll, end: "failed" },
    { name: "late matrix, failFast", plan: () => one(lateMatrix({ failFast: true })), play: failFirst, end: "failed" },
    { name: "late matrix, all retried", plan: () => one(lateMatrix()), play: retryAll, end: "failed" },
    { name: "late matrix, stopped while running", plan: () => one(lateMatrix()), play: stopRunning, end: "cancelled" },
    {
      name: "many late matrices",
      plan: () => planOf([times(steps / 5, () => ({ cells: { axes: [["cell", [1, 2]]], include: [], exclude: [] } }))]),
      play: finish,
      end: "success",
    },
  ];
}
