/**
 * The size of a run of a definition, with every cell of every matrix. A matrix whose cells are known only during the run counts
 * as one cell.
 */
import type { Definition, DefinedJob } from "./definition.ts";
import { countCells, knownCells } from "./matrix.ts";

export function countJobs(definition: Definition): number {
  return sum(definition, cellsOf);
}

export function countSteps(definition: Definition): number {
  return sum(definition, (job) => cellsOf(job) * job.steps.length);
}

function sum(definition: Definition, amountOf: (job: DefinedJob) => number): number {
  return definition.stages.flatMap(({ jobs }) => jobs).reduce((total, job) => total + amountOf(job), 0);
}

function cellsOf(job: DefinedJob): number {
  const cells = job.matrix === null ? undefined : knownCells(job.matrix);
  return cells === undefined ? 1 : countCells(cells);
}
