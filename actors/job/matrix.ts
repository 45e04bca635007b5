/**
 * The cells of a matrix that the planner expanded: how many are at work, which one may begin next, and which are ended
 * with a failed one. (spreading.ts has the cells of a matrix that is known only during the run.) Pure.
 */
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedJob, RunPlan } from "../../src/domain/plan.ts";
import { cellsBeside, firstAttemptId } from "../../src/planner/plan-index.ts";
import { newestJob, resultOf } from "./facts.ts";
import { isAtWork, type JobState } from "./state.ts";

type Cell = Pick<JobState, "runId" | "index">;

/** The key under which a planned cell is counted until it has ended. */
export function countedAs(job: JobState, plan: RunPlan): string | null {
  if (job.cell !== null || job.endedAt !== null) return null;
  return keyOf(plan.jobs[job.index]!, isAtWork(job));
}

function keyOf({ baseName }: PlannedJob, atWork: boolean): string {
  return `${atWork ? "at work" : "pending"} ${baseName}`;
}

/**
 * False while as many cells of the matrix as `maxParallel` allows are at work, the job itself included. `more`: cells
 * that begin and are not counted yet.
 */
export function hasRoom(
  { index, cell }: Pick<JobState, "index" | "cell">,
  plan: RunPlan,
  peers: Peers,
  more = 0,
): boolean {
  const planned = plan.jobs[index]!;
  if (planned.maxParallel === null || cell !== null) return true;
  return peers.count(keyOf(planned, true)) + more < planned.maxParallel;
}

/** True while a cell of the matrix of the job at `index`, or the job itself, has not ended. */
export function hasUnended(index: number, plan: RunPlan, peers: Peers): boolean {
  const planned = plan.jobs[index]!;
  return peers.count(keyOf(planned, false)) + peers.count(keyOf(planned, true)) > 0;
}

/**
 * How many cells of each matrix, from the first one on, are known to have begun. No cell stops having begun, so within a
 * turn the search for the next one goes on where the last search ended.
 */
const begunCells = new WeakMap<Peers, Map<string, number>>();

/**
 * The first cell that has not begun; undefined when there is none. A cell that has not begun is a first attempt. `but`:
 * a cell that begins with this decision.
 */
export function nextPending({ runId, index }: Cell, plan: RunPlan, peers: Peers, but = -1): JobState | undefined {
  const planned = plan.jobs[index]!;
  if (peers.count(keyOf(planned, false)) === 0) return undefined;
  let known = begunCells.get(peers);
  if (known === undefined) begunCells.set(peers, (known = new Map<string, number>()));
  const cells = cellsBeside(index, plan);
  for (let at = known.get(planned.baseName) ?? 0; at < cells.length; at++) {
    const position = cells[at]!;
    if (position === but) continue;
    const job = peers.state(firstAttemptId(runId, position, plan)) as JobState | undefined;
    if (job?.state !== "pending" || job.retryTimer !== null) continue;
    known.set(planned.baseName, but === -1 ? at : Math.min(at, cells.indexOf(but)));
    return job;
  }
  return undefined;
}

/**
 * The cells that end because the cell at `index` has failed: those that have not ended. None when a cell before it in the
 * plan has failed too: the end of that one ends them.
 */
export function endedByFailure({ runId, index }: Cell, plan: RunPlan, peers: Peers): readonly JobState[] {
  if (!hasUnended(index, plan, peers)) return [];
  const unended: JobState[] = [];
  for (const position of cellsBeside(index, plan)) {
    const job = position === index ? undefined : newestJob(runId, position, plan, peers);
    if (job === undefined) continue;
    if (job.endedAt === null) unended.push(job);
    else if (position < index && job.reusedFrom === null && resultOf(job, plan) === "failed") return [];
  }
  return unended;
}
