/**
 * Reads one run in detail. A run with many actors is read and rendered in pieces, so that it does not hold the event
 * loop; such reads are bounded, and identical ones share one answer.
 */
import { z } from "zod";
import type { PipelineId, RunId } from "../../domain/ids.ts";
import type { JobInBrief } from "../../stores/ports/aggregates.ts";
import { newestStatus } from "../commit-statuses/commit-statuses.ts";
import type { Caller } from "../identity/access.ts";
import { isOfPipeline, noRun } from "../lookups.ts";
import { doInTurns, type Pieces } from "../pieces.ts";
import { authoriseOnRun } from "../reaching.ts";
import type { RunsContext } from "./context.ts";
import { choiceText, type JobChoice, jobChoice, mostJobs } from "./job-choice.ts";
import { type LoadedRun, loadRun, readLoaded } from "./loaded-run.ts";
import {
  type DetailSource,
  type JobDetail,
  type RunDetail,
  type RunInBrief,
  queuedJobs,
  runParts,
  shownJobs,
} from "./run-view.ts";
import { readQueueFacts } from "./queue-facts.ts";
import { findRerun } from "./succession.ts";
import { declaresTests, readTestCounts } from "./test-counts.ts";

/** An answer with so many jobs is small. */
const FEW_JOBS = 100;

/** Jobs that are rendered in one piece. */
const JOBS_AT_ONCE = 32;

export const runQuery = z.strictObject({
  attempts: z.enum(["newest", "all"]).default("newest"),
  jobs: jobChoice.optional(),
});

export interface RunRequest {
  readonly runId: RunId;
  readonly pipelineId?: PipelineId;
  readonly allAttempts: boolean;
  readonly jobs?: JobChoice | undefined;
}

/** How a protocol writes a run. An answer of a large run goes to all who ask for it at the same time. */
export interface RunFormat<Whole = Buffer, Piece = Uint8Array> {
  readonly name: string;
  /** Some jobs that follow each other. */
  jobs(jobs: readonly JobDetail[]): Piece;
  /** `jobs`: all of them, in pieces that {@link jobs} has made. `isShared`: the answer may go to other callers, too. */
  whole(run: RunInBrief, jobs: readonly Piece[], nowMs: number, isShared: boolean): Whole;
}

/**
 * One run with the newest attempts of its jobs and steps, or with all attempts; of the jobs those in `jobs`, if it is
 * given. Throws `not_found`, also when `pipelineId` is given and the run belongs to another pipeline, and for a job that
 * the run does not have.
 */
export async function getRun(context: RunsContext, caller: Caller, request: RunRequest): Promise<RunDetail> {
  await authoriseOnRun(context, caller, "readRuns", request.runId, request.pipelineId);
  const { run, jobs } = await doInTurns(
    runParts(await detailSource(context, caller, request, await loadRun(context, request.runId, false))),
  );
  return { ...run, jobs: [...jobs] };
}

/**
 * What {@link getRun} answers, in a format, and made once for all who ask at the same time. `over` must fire when the caller has taken the answer or is
 * gone. Throws what `getRun` throws; for a large run also `too_many`.
 */
export async function renderRun<Whole, Piece>(
  context: RunsContext,
  caller: Caller,
  request: RunRequest,
  { format, over }: { readonly format: RunFormat<Whole, Piece>; readonly over: AbortSignal },
): Promise<Whole> {
  const { runId, pipelineId, allAttempts, jobs } = request;
  await authoriseOnRun(context, caller, "readRuns", runId, pipelineId);
  const view = [format.name, pipelineId ?? "", allAttempts, jobs === undefined ? "" : choiceText(jobs)].join(" ");
  const isSmall = jobs !== undefined && mostJobs(jobs) <= FEW_JOBS;
  const render = async (loaded: LoadedRun): Promise<Whole> =>
    doInTurns(rendered(await detailSource(context, caller, request, loaded), format));
  return readLoaded(context, caller, runId, {
    view,
    isSmall,
    render,
    over,
    ...(jobs !== undefined && { choose: (all: readonly JobInBrief[]) => shownJobs(all, allAttempts, jobs) }),
  });
}

async function detailSource(
  context: RunsContext,
  caller: Caller,
  request: RunRequest,
  loaded: LoadedRun,
): Promise<DetailSource> {
  const { runId, pipelineId, allAttempts, jobs: chosen } = request;
  const { head } = loaded.aggregate;
  if (!isOfPipeline(head, pipelineId)) throw noRun(runId, pipelineId);
  const retriedBy = await findRerun(context, head);
  const testCounts = declaresTests(loaded.plan) ? await readTestCounts(context, runId) : undefined;
  const commitStatus = await newestStatus(context, runId, head.origin.commitSha);
  const source = { ...loaded, allAttempts, chosen, retriedBy, testCounts, commitStatus, now: context.clock.now() };
  const queue = await readQueueFacts(context, caller, loaded, queuedJobs(source));
  return queue === undefined ? source : { ...source, waitFacts: { ...loaded.waitFacts, queue } };
}

function* rendered<Whole, Piece>(
  source: DetailSource & Pick<LoadedRun, "isShared">,
  format: RunFormat<Whole, Piece>,
): Pieces<Whole> {
  const { run, jobs } = yield* runParts(source);
  const pieces: Piece[] = [];
  let batch: JobDetail[] = [];
  for (const job of jobs) {
    batch.push(job);
    if (batch.length < JOBS_AT_ONCE) continue;
    pieces.push(format.jobs(batch));
    batch = [];
    yield;
  }
  if (batch.length > 0) pieces.push(format.jobs(batch));
  yield;
  return format.whole(run, pieces, source.now, source.isShared === true);
}
