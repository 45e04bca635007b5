/**
 * Reads one run in detail. A run with many actors is read and rendered in pieces, so that it does not hold the event
 * loop; such reads are bounded, and identical ones share one answer.
 */
import { z } from "zod";
import type { PipelineId, RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import { readAgents } from "../agents/inventory.ts";
import { isOfPipeline, noPlan, noRun } from "../lookups.ts";
import { loopShare } from "../loop-share.ts";
import { doInTurns, type Pieces } from "../pieces.ts";
import type { RunsContext } from "./context.ts";
import { choiceText, type JobChoice, jobChoice } from "./job-choice.ts";
import {
  type DetailSource,
  type JobDetail,
  type RunDetail,
  type RunInBrief,
  runParts,
  waitsForAgent,
} from "./run-view.ts";
import { findRerun } from "./succession.ts";
import { readWaitFacts } from "./wait-facts.ts";

/** A run with more actors is large: its load takes some 10 ms for each thousand. */
export const LARGE_ACTORS = 1_000;

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

/** How a protocol writes a run. Answers of one format are the same for all callers. */
export interface RunFormat {
  readonly name: string;
  /** Some jobs that follow each other. */
  jobs(jobs: readonly JobDetail[]): Uint8Array;
  /** `jobs`: all of them, in pieces that {@link jobs} has made. */
  whole(run: RunInBrief, jobs: readonly Uint8Array[], nowMs: number): Buffer;
}

interface LoadedRun extends Omit<DetailSource, "allAttempts" | "chosen" | "now"> {
  readonly aggregate: Aggregate;
}

/**
 * One run with the newest attempts of its jobs and steps, or with all attempts; of the jobs those in `jobs`, if it is
 * given. Throws `not_found`, also when `pipelineId` is given and the run belongs to another pipeline, and for a job that
 * the run does not have.
 */
export async function getRun(context: RunsContext, caller: Caller, request: RunRequest): Promise<RunDetail> {
  authoriseUser(caller, "readRuns");
  const loaded = await loadRun(context, request.runId, false);
  requirePipeline(loaded, request);
  const { run, jobs } = await doInTurns(runParts({ ...loaded, ...viewOf(request), now: context.clock.now() }));
  return { ...run, jobs: [...jobs] };
}

/**
 * What {@link getRun} answers, as bytes that may be shared. `over` must fire when the caller has taken the answer or is
 * gone. Throws what `getRun` throws; for a large run also `too_many`.
 */
export async function renderRun(
  context: RunsContext,
  caller: Caller,
  request: RunRequest,
  { format, over }: { readonly format: RunFormat; readonly over: AbortSignal },
): Promise<Buffer> {
  authoriseUser(caller, "readRuns");
  const { runId, pipelineId, allAttempts, jobs } = request;
  const size = await context.stores.aggregates.sizeOf(runId, LARGE_ACTORS + 1);
  const isLarge = size !== undefined && size.actors > LARGE_ACTORS;
  const load = () => loadRun(context, runId, isLarge);
  const render = (loaded: LoadedRun): Promise<Buffer> => {
    requirePipeline(loaded, request);
    return doInTurns(rendered({ ...loaded, ...viewOf(request), now: context.clock.now() }, format));
  };
  if (!isLarge || context.largeReads === undefined) return render(await load());
  const view = [format.name, pipelineId ?? "", allAttempts, jobs === undefined ? "" : choiceText(jobs)].join(" ");
  return context.largeReads.read(caller, { of: runId, version: size.version, view, load, render }, over);
}

function viewOf({ allAttempts, jobs }: RunRequest): Pick<DetailSource, "allAttempts" | "chosen"> {
  return { allAttempts, chosen: jobs };
}

async function loadRun(context: RunsContext, runId: RunId, inPieces: boolean): Promise<LoadedRun> {
  const { aggregates, plans } = context.stores;
  let aggregate: Aggregate | undefined;
  let plan: RunPlan | undefined;
  if (inPieces) {
    await loopShare.enter();
    plan = await plans.loadPlan(runId);
    await loopShare.enter();
    aggregate = await aggregates.loadInPieces(runId, () => loopShare.enter());
  } else [aggregate, plan] = await Promise.all([aggregates.load(runId), plans.loadPlan(runId)]);
  if (aggregate === undefined) throw noRun(runId, undefined);
  if (plan === undefined) throw noPlan(runId);
  const [agents, waitFacts, retriedBy] = await Promise.all([
    readAgents(context, waitsForAgent(aggregate) ? [plan.projectId] : []),
    readWaitFacts(aggregates, aggregate),
    findRerun(context, aggregate.head),
  ]);
  return { aggregate, plan, agents, waitFacts, retriedBy };
}

function requirePipeline({ aggregate }: LoadedRun, { runId, pipelineId }: RunRequest): void {
  if (!isOfPipeline(aggregate.head, pipelineId)) throw noRun(runId, pipelineId);
}

function* rendered(source: DetailSource, format: RunFormat): Pieces<Buffer> {
  const { run, jobs } = yield* runParts(source);
  const pieces: Uint8Array[] = [];
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
  return format.whole(run, pieces, source.now);
}
