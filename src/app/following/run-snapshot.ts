/**
 * A run with all of its jobs and steps as those who follow it get it first. It is made in pieces of bounded size, all
 * from one moment, so that a run of thousands of steps is no message of megabytes.
 */
import type { RunId } from "../../domain/ids.ts";
import type { Caller } from "../identity/access.ts";
import type { RunsContext } from "../runs/context.ts";
import { renderRun, type RunFormat } from "../runs/run-detail.ts";

/** Text of one piece; one job may be longer. */
const PIECE_CHARS = 64 * 1024;

export interface LiveSnapshot {
  /** Number of the newest event that the snapshot includes. */
  readonly eventNumber: number;
  /** The run without its jobs, as JSON. */
  readonly run: string;
  /** Arrays of jobs with their steps, as JSON, in the order of the plan. */
  readonly jobs: readonly string[];
  /** Length of all texts. */
  readonly chars: number;
  /** True when every caller who may read the run may have it. */
  readonly isShared: boolean;
}

const LIVE_RUN: RunFormat<LiveSnapshot, readonly string[]> = {
  name: "live",
  jobs: (jobs) => joined(jobs.map((job) => JSON.stringify(job))),
  whole(run, pieces, _, isShared) {
    const jobs = pieces.flat();
    const text = JSON.stringify(run);
    const chars = jobs.reduce((sum, { length }) => sum + length, text.length);
    return { eventNumber: run.eventNumber, run: text, jobs, chars, isShared };
  },
};

/**
 * `over` must fire when the caller has the snapshot or is gone. Throws `not_found`, and `too_many` while the node is busy
 * with large runs.
 */
export function readLiveSnapshot(
  context: RunsContext,
  caller: Caller,
  runId: RunId,
  over: AbortSignal,
): Promise<LiveSnapshot> {
  return renderRun(context, caller, { runId, allAttempts: true }, { format: LIVE_RUN, over });
}

/** Arrays of items, each array of bounded length unless it has one item. */
function joined(items: readonly string[]): readonly string[] {
  const arrays: string[] = [];
  let text = "";
  for (const item of items) {
    if (text !== "" && text.length + item.length > PIECE_CHARS) {
      arrays.push(`[${text}]`);
      text = "";
    }
    text += text === "" ? item : `,${item}`;
  }
  if (text !== "") arrays.push(`[${text}]`);
  return arrays;
}
