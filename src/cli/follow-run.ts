/** Follows a run until it is final: polls its state, and receives its logs live. */
import { setTimeout as sleep } from "node:timers/promises";
import { isTemporary, type LogStream, type LogStreamOptions } from "../../clients/typescript/src/index.ts";
import { MillraceError } from "../domain/errors.ts";
import { isActiveStepStatus, isFinalRunStatus } from "../domain/status.ts";
import type { Job, RunDetail, Step } from "./run-tree.ts";
import type { LogEntry } from "./run-view.ts";

/** How often a run of an installation on this machine is read. */
const READ_EVERY_MS = 200;
/** Logs of a run that has ended are read for as long as lines come: until none has come for this time. */
export const SILENCE_MS = 10_000;
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
  /** Called at the end for each log whose last lines have not arrived. */
  readonly incomplete?: (job: Job, step: Step) => void;
}

export interface FollowOptions {
  /** Default: 200. */
  readonly readEveryMs?: number;
  /** Default: 30,000. */
  readonly unreachableMs?: number;
  /** Default: {@link SILENCE_MS}. */
  readonly silenceMs?: number;
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
  { readEveryMs = READ_EVERY_MS, unreachableMs = UNREACHABLE_MS, silenceMs = SILENCE_MS }: FollowOptions = {},
): Promise<RunDetail> {
  const tail = source.logs();
  try {
    let seenAt = performance.now();
    let finalAt: number | undefined;
    let heardAt = Number.NEGATIVE_INFINITY;
    const log: RunFollower["log"] =
      follower.log &&
      ((job, step, entry) => {
        heardAt = performance.now();
        follower.log!(job, step, entry);
      });
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
        if (log !== undefined) followLogs(tail, run, log);
        if (isFinalRunStatus(run.status)) {
          finalAt ??= seenAt;
          const missing = log === undefined ? [] : withoutEnd(tail, run);
          if (missing.length === 0) return run;
          if (performance.now() - Math.max(finalAt, heardAt) > silenceMs) {
            for (const { job, step } of missing) follower.incomplete?.(job, step);
            return run;
          }
        }
      }
      await sleep(readEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  } finally {
    tail.close();
  }
}

/** What a command says of a log whose last lines have not arrived. */
export function incompleteText({ name: job }: Job, { name: step }: Step): string {
  return `the log of ${job}/${step} could not be read to its end; repeat the command later`;
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
    let heardAt = performance.now();
    tail.follow({ pipelineId, jobId: job.jobId, stepRunId }, (entry) => {
      heardAt = performance.now();
      entries.push(entry);
    });
    while (!tail.isComplete(stepRunId, lastLine) && performance.now() - heardAt < SILENCE_MS) {
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

/** The steps whose last lines have not arrived. */
function withoutEnd(tail: LogStream, run: RunDetail): readonly JobStep[] {
  return begunSteps(run).filter(({ step }) => !tail.isComplete(step.stepRunId, step.lastLine));
}

interface JobStep {
  readonly job: Job;
  readonly step: Step;
}

function begunSteps(run: RunDetail): readonly JobStep[] {
  return run.jobs
    .flatMap((job) => job.steps.map((step) => ({ job, step })))
    .filter(({ step }) => step.startTime !== null);
}

const isEnded = (step: Step) => !isActiveStepStatus(step.status);
