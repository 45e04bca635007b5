/** Follows a run until it is final: polls its state, and receives its logs live. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunDetail } from "../app/runs/run-view.ts";
import { MillraceError } from "../domain/errors.ts";
import { isActiveStepStatus, isFinalRunStatus } from "../domain/status.ts";
import type { ApiClient } from "./api-client.ts";
import { LogTail } from "./log-tail.ts";
import type { Job, Step } from "./run-tree.ts";
import type { LogEntry } from "./run-view.ts";

const READ_EVERY_MS = 200;
/** The last lines of a run must arrive within this time after its end. */
const LAST_LINES_WITHIN_MS = 3_000;
/** Following fails once the control plane has not answered for this long. */
const UNREACHABLE_MS = 30_000;

export interface RunFollower {
  update(run: RunDetail): void;
  /** Receives each log line; when absent, logs are not read. */
  readonly log?: (job: Job, step: Step, entry: LogEntry) => void;
}

/**
 * Resolves with the run's final state once its logs have been passed on too. Rejects with the signal's reason, with the
 * server's error, or with `unavailable` when the server has not answered for 30 s.
 */
export async function followRun(
  api: ApiClient,
  runId: string,
  follower: RunFollower,
  signal: AbortSignal,
): Promise<RunDetail> {
  const tail = new LogTail(api);
  try {
    let seenAt = performance.now();
    let finalAt: number | undefined;
    for (;;) {
      const run = await api.run(runId).catch((error: unknown) => {
        const isUnreachable = error instanceof MillraceError && error.reason === "unavailable";
        if (!isUnreachable || performance.now() - seenAt > UNREACHABLE_MS) throw error;
      });
      if (run !== undefined) {
        seenAt = performance.now();
        follower.update(run);
        if (follower.log !== undefined) followLogs(tail, run, follower.log);
        if (isFinalRunStatus(run.status)) {
          finalAt ??= seenAt;
          if (follower.log === undefined || hasAllLogs(tail, run) || seenAt - finalAt > LAST_LINES_WITHIN_MS)
            return run;
        }
      }
      await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  } finally {
    tail.close();
  }
}

/** The whole log of one step that has ended. */
export async function readLog(
  api: ApiClient,
  pipelineId: string,
  job: Job,
  step: Step,
  signal: AbortSignal,
): Promise<readonly LogEntry[]> {
  const tail = new LogTail(api);
  try {
    const entries: LogEntry[] = [];
    const { stepRunId, lastLine } = step;
    tail.follow({ pipelineId, jobId: job.jobId, stepRunId }, (entry) => entries.push(entry));
    const deadline = performance.now() + LAST_LINES_WITHIN_MS;
    while (!tail.isComplete(stepRunId, lastLine) && performance.now() < deadline) {
      await sleep(20, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return entries;
  } finally {
    tail.close();
  }
}

function followLogs(tail: LogTail, run: RunDetail, log: NonNullable<RunFollower["log"]>): void {
  for (const { job, step } of begunSteps(run)) {
    const { pipelineId } = run;
    tail.follow({ pipelineId, jobId: job.jobId, stepRunId: step.stepRunId }, (entry) => log(job, step, entry));
    // A connection may have a limited number of subscriptions, so complete logs give theirs up.
    if (isEnded(step) && tail.isComplete(step.stepRunId, step.lastLine)) tail.unfollow(step.stepRunId);
  }
}

function hasAllLogs(tail: LogTail, run: RunDetail): boolean {
  return begunSteps(run).every(({ step }) => tail.isComplete(step.stepRunId, step.lastLine));
}

function begunSteps(run: RunDetail): readonly { readonly job: Job; readonly step: Step }[] {
  return run.jobs
    .flatMap((job) => job.steps.map((step) => ({ job, step })))
    .filter(({ step }) => step.startTime !== null);
}

const isEnded = (step: Step) => !isActiveStepStatus(step.status);
