/**
 * A job whose matrix is known only during the run. When it begins it is spread: it makes its cells and begins them,
 * passes the run's messages on to them, and ends when the last cell has ended. Pure.
 */
import { jobRunId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { RunPlan, Scalar } from "../../src/domain/plan.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { plannedSteps } from "../../src/planner/plan-index.ts";
import { makeCells, type NoCells } from "../../src/planner/deferred-cells.ts";
import { bytesOfCells, sizedJob } from "../../src/planner/snapshot-size.ts";
import { newStep } from "../step/state.ts";
import { type JobDecision, type JobEffect, moved, publishJob } from "./effects.ts";
import type { JobMessage } from "./messages.ts";
import { type JobState, newJob, type SpreadCell } from "./state.ts";

/** The values of each cell, or why there are none; see {@link makeCells} for the reasons. */
export function evaluateCells(job: JobState, plan: RunPlan, facts: Facts): readonly Pairs<Scalar>[] | NoCells {
  const planned = plan.jobs[job.index]!;
  const { cells, steps } = planned;
  const made = makeCells(cells!, facts, steps.length, plannedSteps(plan) - steps.length);
  if (typeof made === "string" || plan.lateBytes === undefined) return made;
  return bytesOfCells(sizedJob(planned), made) > plan.lateBytes ? "matrix_limit" : made;
}

/** Makes the cells, and begins as many of them as `maxParallel` allows. */
export function spread(job: JobState, matrices: readonly Pairs<Scalar>[], now: number, plan: RunPlan): JobDecision {
  const planned = plan.jobs[job.index]!;
  const spawned = matrices.flatMap((matrix, cell): JobEffect[] => {
    const state: JobState = {
      ...newJob(job.runId, { ...planned, needs: [] }, cell, matrix),
      attemptsBefore: job.attemptsBefore,
      paused: job.paused,
    };
    const steps = planned.steps.map((_, index) => newStep(state, index));
    return [
      { type: "spawn", actor: { kind: "job", id: state.jobId }, state },
      ...steps.map((step): JobEffect => ({ type: "spawn", actor: { kind: "step", id: step.stepRunId }, state: step })),
    ];
  });
  const queued: JobState = { ...job, state: "queued", queuedAt: now };
  const next: JobState = {
    ...queued,
    state: "spread",
    startedAt: now,
    cells: matrices.map((): SpreadCell => ({ attempt: 1, begun: false, result: null })),
  };
  const begun = beginCells(next, plan);
  return moved(begun.next, [publishJob(queued, "queued"), publishJob(next, "started"), ...spawned, ...begun.effects]);
}

/** The job with the message of one of its cells taken in, and the messages to its other cells that follow from it. */
export function recordCell(job: JobState, message: JobMessage, plan: RunPlan): JobDecision {
  if (message.type !== "cellDone" && message.type !== "cellRetried") return moved(job, []);
  const change = message.type === "cellDone" ? { result: message.result } : { attempt: message.attempt };
  const cells = job.cells.with(message.cell, { ...job.cells[message.cell]!, ...change });
  const next: JobState = { ...job, cells };
  if (message.type === "cellRetried") return moved(next, []);
  const isFailure = plan.jobs[job.index]!.failFast && message.result === "failed";
  return isFailure ? moved(next, tellCells(next, { type: "cancel", reason: "fail_fast" })) : beginCells(next, plan);
}

/** Sends the message to all cells that have not ended. */
export function tellCells(job: JobState, message: JobMessage): readonly JobEffect[] {
  return job.cells.flatMap(({ result }, cell) => (result === null ? [tellCell(job, cell, message)] : []));
}

function beginCells(job: JobState, plan: RunPlan): JobDecision {
  const { maxParallel } = plan.jobs[job.index]!;
  const mayBegin = ({ begun, result }: SpreadCell): boolean => !begun && result === null;
  // All cells of a wide matrix may end in one turn: most ends let no other cell begin, and copy nothing here.
  const first = job.cells.findIndex(mayBegin);
  if (first === -1) return moved(job, []);
  let room = (maxParallel ?? Infinity) - job.cells.filter(({ begun, result }) => begun && result === null).length;
  const effects: JobEffect[] = [];
  const cells = [...job.cells];
  for (let cell = first; cell < cells.length && room > 0; cell++) {
    if (!mayBegin(cells[cell]!)) continue;
    room--;
    effects.push(tellCell(job, cell, { type: "stageOpened", failed: job.upstreamFailed }));
    cells[cell] = { ...cells[cell]!, begun: true };
  }
  return effects.length === 0 ? moved(job, []) : moved({ ...job, cells }, effects);
}

function tellCell(job: JobState, cell: number, message: JobMessage): JobEffect {
  const id = jobRunId(job.runId, job.index, job.cells[cell]!.attempt, cell);
  return { type: "send", to: { kind: "job", id }, message };
}
