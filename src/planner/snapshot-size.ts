/**
 * How large the snapshot of a run may become as a BSON document, when every text is as long as it may be: an upper bound,
 * known when the run is planned. It counts one attempt of each job and step, however many retries there are: an ended
 * attempt leaves the snapshot one save after its end. What ends in one turn, and the effects that the run owes, are not
 * counted: a store keeps them in a form that fits. Pure.
 */
import type { Pairs } from "../domain/pairs.ts";
import type { PlannedApproval, RunPlan, Scalar } from "../domain/plan.ts";
import { REASON_CHARS } from "./plan-index.ts";
import type { PlannedCell } from "./plan-cells.ts";

/**
 * Bytes of one actor with its id and its index, with ids that agents choose and names of quotas at 64 characters, with the
 * shortest reason that a step keeps, and without the parts that `bytesOfJob` adds.
 */
const ACTOR = { run: 10_000, job: 1_450, step: 1_110, approval: 1_600, vote: 6_600 } as const;
/** An id in a list, and what a job that is spread knows of a cell. */
const ENTRY = { need: 12, cell: 72 } as const;
/** A name of a group of 200 characters, and its id. */
const PLACE = 720;
/** The names of an environment and a job, 200 characters each, and two ids, in the state and in the index. */
const DEPLOYMENT = 2 * (2 * 3 * 200 + 250);
/** Longest message of an approval, characters. */
export const APPROVAL_MESSAGE_CHARS = 4_000;
const BYTES_OF_CHAR = 3;

/** What the size of a job depends on. */
export interface SizedJob {
  readonly steps: number;
  readonly needs: number;
  readonly hasGroup: boolean;
  readonly hasTarget: boolean;
  /** Selectors are repeated in the reason for which a job waits. */
  readonly selectorBytes: number;
  /** True for a job that makes its cells when it begins: it has no step of its own. */
  readonly isLate: boolean;
}

type Planned = Pick<
  RunPlan["jobs"][number],
  "cells" | "needs" | "group" | "environment" | "selector" | "steps" | "baseName" | "approval"
>;

/** The greatest size of the snapshot, without the cells of late matrices. `variables`: those of the trigger. */
export function snapshotBytes(
  jobs: readonly SizedJob[],
  gates: readonly Pick<PlannedApproval, "count" | "required">[],
  variables: Pairs<Scalar>,
): number {
  const ofJobs = jobs.reduce((sum, job) => sum + bytesOfJob(job), 0);
  const ofGates = gates.reduce((sum, gate) => sum + bytesOfGate(gate), 0);
  return ACTOR.run + ofJobs + ofGates + BYTES_OF_CHAR * REASON_CHARS.ofRun + 2 * jsonBytes(variables);
}

/** The greatest size of so many cells of a late matrix. `matrices`: the values of the cells. */
export function bytesOfCells(job: SizedJob, matrices: readonly Pairs<Scalar>[]): number {
  const cell = bytesOfJob({ ...job, isLate: false, needs: 0 }) + ENTRY.cell;
  const values = matrices.reduce((sum, matrix) => sum + 2 * jsonBytes(matrix) + 20 * matrix.length, 0);
  return matrices.length * cell + values;
}

export function sizedJob({ cells, needs, group, environment, selector, steps }: Planned): SizedJob {
  return {
    steps: steps.length,
    needs: needs.length,
    hasGroup: group !== null,
    hasTarget: environment !== undefined,
    selectorBytes: jsonBytes(selector),
    isLate: cells !== null,
  };
}

/** As {@link sizedJob}, of a cell that is not planned yet. `needs`: how many jobs it needs. */
export function sizedCell({ defined, cellsFrom }: PlannedCell, needs: number): SizedJob {
  return {
    steps: defined.steps.length,
    needs,
    hasGroup: defined.concurrency !== null,
    hasTarget: defined.target !== null,
    selectorBytes: jsonBytes(defined.selector),
    isLate: cellsFrom !== null,
  };
}

/** What may be too large, for people. */
export function snapshotLimitMessage(bytes: number, limit: number): string {
  return `the jobs and steps of this run may take ${bytes} bytes, and the store holds runs of up to ${limit} bytes`;
}

/** The greatest size of one job. The cells of a late matrix are bounded by what the rest of the run leaves them. */
export function bytesOfJob({ steps, needs, hasGroup, hasTarget, selectorBytes, isLate }: SizedJob): number {
  const place = (hasGroup ? PLACE : 0) + (hasTarget ? DEPLOYMENT : 0);
  const once = needs * ENTRY.need + 2 * selectorBytes;
  if (isLate) return once + ACTOR.job + place;
  return once + ACTOR.job + place + steps * ACTOR.step;
}

function bytesOfGate({ count, required }: Pick<PlannedApproval, "count" | "required">): number {
  return ACTOR.approval + BYTES_OF_CHAR * APPROVAL_MESSAGE_CHARS + (count + required.length + 1) * ACTOR.vote;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The greatest size of the snapshot of a planned run. */
export function snapshotBytesOf(
  { approval: ofRun, jobs, stages }: Pick<RunPlan, "approval" | "jobs" | "stages">,
  variables: Pairs<Scalar>,
): number {
  const names = new Set<string>();
  const gates = [...(ofRun === undefined ? [] : [ofRun]), ...stages.flatMap(({ approval }) => approval ?? [])];
  for (const { approval, baseName } of jobs) {
    // All cells of a matrix have one gate.
    if (approval !== null && !names.has(baseName)) gates.push(approval);
    names.add(baseName);
  }
  return snapshotBytes(jobs.map(sizedJob), gates, variables);
}
