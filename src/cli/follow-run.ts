/** Follows a run until it is final: polls its state, and receives its logs live. */
import { setTimeout as sleep } from "node:timers/promises";
import { isTemporary, type LogStream, type LogStreamOptions } from "../../clients/typescript/src/index.ts";
import { MillraceError } from "../domain/errors.ts";
import { isActiveStepStatus, isFinalRunStatus } from "../domain/status.ts";
import type { Job, RunDetail, Step } from "./run-tree.ts";
import type { LogEntry } from "./run-view.ts";

/** How often a run of an installation on this machine is read. */
const READ_EVERY_MS = 200;
/** The last lines of a run must arrive within this time after its end. */
const LAST_LINES_WITHIN_MS = 3_000;
/** Following fails once the control plane has not answered for this long. */
const UNREACHABLE_MS = 30_000;

/** Where runs and their logs come from. */
export interface RunSource {
  run(runId: string, signal?: AbortSignal): Promise<RunDetail>;
  logs(options?: Pick<LogStreamOptions, "onConnection">): LogStream;
}

export interface RunFollower {
  update(run: RunDetail): void;
  /** Receives each log line; when absent, logs are not read. */
  readonly log?: (job: Job, step: Step, entry: LogEntry) => void;
  /** Called when the control plane does not answer any more (false), with the reason, and when it answers again (true). */
  readonly connection?: (isConnected: boolean, reason?: Error) => void;
}

export interface FollowOptions {
  /** Default: 200. */
  readonly readEveryMs?: number;
  /** Default: 30,000. */
  readonly unreachableMs?: number;
}

/**
 * Resolves with the run's final state once its logs have been passed on too. Rejects with the signal's reason, with the
 * server's error, or with `unavailable` when the server has not answered for long.
 */
export async function followRun(
  source: RunSource,
  runId: string,
  follower: RunFollower,
  signal: AbortSignal,
  { readEveryMs = READ_EVERY_MS, unreachableMs = UNREACHABLE_MS }: FollowOptions = {},
): Promise<RunDetail> {
  const tail = source.logs();
  try {
    let seenAt = performance.now();
    let finalAt: number | undefined;
    let isConnected = true;
    for (;;) {
      const run = await source.run(runId, signal).catch((error: unknown) => {
        if (!isUnreachable(error) || performance.now() - seenAt > unreachableMs) throw error;
        if (isConnected) follower.connection?.(false, error as Error);
        isConnected = false;
      });
      if (run !== undefined) {
        seenAt = performance.now();
        if (!isConnected) follower.connection?.(true);
        isConnected = true;
        follower.update(run);
        if (follower.log !== undefined) followLogs(tail, run, follower.log);
        if (isFinalRunStatus(run.status)) {
          finalAt ??= seenAt;
          if (follower.log === undefined || hasAllLogs(tail, run) || seenAt - finalAt > LAST_LINES_WITHIN_MS)
            return run;
        }
      }
      await sleep(readEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  } finally {
    tail.close();
  }
}

/** The whole log of one step that has ended. */
export async function readLog(
  source: RunSource,
  pipelineId: string,
  job: Job,
  step: Step,
  signal: AbortSignal,
): Promise<readonly LogEntry[]> {
  const tail = source.logs();
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

function isUnreachable(error: unknown): boolean {
  return isTemporary(error) || (error instanceof MillraceError && error.reason === "unavailable");
}

function followLogs(tail: LogStream, run: RunDetail, log: NonNullable<RunFollower["log"]>): void {
  for (const { job, step } of begunSteps(run)) {
    const { pipelineId } = run;
    tail.follow({ pipelineId, jobId: job.jobId, stepRunId: step.stepRunId }, (entry) => log(job, step, entry));
    // A connection may have a limited number of subscriptions, so complete logs give theirs up.
    if (isEnded(step) && tail.isComplete(step.stepRunId, step.lastLine)) tail.unfollow(step.stepRunId);
  }
}

function hasAllLogs(tail: LogStream, run: RunDetail): boolean {
  return begunSteps(run).every(({ step }) => tail.isComplete(step.stepRunId, step.lastLine));
}

function begunSteps(run: RunDetail): readonly { readonly job: Job; readonly step: Step }[] {
  return run.jobs
    .flatMap((job) => job.steps.map((step) => ({ job, step })))
    .filter(({ step }) => step.startTime !== null);
}

const isEnded = (step: Step) => !isActiveStepStatus(step.status);
