/**
 * A run with all of its jobs and steps as those who follow it get it first. It is made in pieces of bounded size, all
 * from one moment, so that a run of thousands of steps is no message of megabytes.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { RunId } from "../../domain/ids.ts";
import type { Caller } from "../identity/access.ts";
import type { RunsContext } from "../runs/context.ts";
import { renderRun, type RunFormat } from "../runs/run-detail.ts";
import { Signal } from "../signal.ts";

/** Text of one piece; one job may be longer. */
const PIECE_CHARS = 64 * 1024;
/** How often a viewer asks again while too many large runs are being read. */
const TRIES = 30;

export interface LiveSnapshot {
  /** Number of the newest event that the snapshot includes. */
  readonly eventNumber: number;
  /** The run without its jobs, as JSON. */
  readonly run: string;
  /** Arrays of jobs with their steps, as JSON, in the order of the plan. */
  readonly jobs: readonly string[];
}

const LIVE_RUN: RunFormat<LiveSnapshot, readonly string[]> = {
  name: "live",
  jobs: (jobs) => joined(jobs.map((job) => JSON.stringify(job))),
  whole: (run, pieces) => ({ eventNumber: run.eventNumber, run: JSON.stringify(run), jobs: pieces.flat() }),
};

/**
 * `over` must fire when the caller has taken the snapshot or is gone. Throws `not_found`, and `too_many` when the node
 * is busy with large runs for long.
 */
export async function readLiveSnapshot(
  context: RunsContext,
  caller: Caller,
  runId: RunId,
  over: AbortSignal,
): Promise<LiveSnapshot> {
  const pause = new Signal();
  for (let tried = 1; ; tried++) {
    try {
      return await renderRun(context, caller, { runId, allAttempts: true }, { format: LIVE_RUN, over });
    } catch (error) {
      const isBusy = error instanceof MillraceError && error.reason === "too_many";
      if (!isBusy || tried === TRIES) throw error;
      await pause.wait(error.retryAfterSeconds * 1_000, over);
      over.throwIfAborted();
    }
  }
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
