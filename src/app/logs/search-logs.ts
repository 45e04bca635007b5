/** Searches the log of a step, all logs of a run, and the logs of the runs of a pipeline, newest run first. */
import type { z } from "zod";
import type { StepState } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type JobRunId, type PipelineId, type RunId, type StepRunId } from "../../domain/ids.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import type { ListKey } from "../../stores/ports/pages.ts";
import { logEntry } from "../following/log-entry.ts";
import type { Caller } from "../identity/access.ts";
import { reachPipeline, reachRun, reachStep } from "../reaching.ts";
import { requireKeptLog } from "../runs/kept-parts.ts";
import type { LogsContext } from "./context.ts";
import { noStepRun } from "../step-runs.ts";
import { LogScan } from "./log-scan.ts";
import { Places } from "./places.ts";
import { openLog, type StepLogName } from "./read-log.ts";
import { stepsWithLog } from "./run-steps.ts";
import {
  cursorOfPlace,
  type LogMatch,
  type LogSearchShape,
  type SearchPlace,
  type SearchQuery,
} from "./search-query.ts";

const places = new Places(4, "searches of logs");
/** Runs of a pipeline that are looked up at a time. */
const RUNS = 20;

export type LogSearch = z.infer<typeof LogSearchShape>;

/** A step to search in. */
interface SearchedStep {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
  readonly logOf: StepRunId;
  /** The builtin or plugin. */
  readonly usesOf: () => Promise<string>;
}

/** Throws `forbidden`, `too_many`, and `not_found` for an unknown step and for a log that was removed. */
export async function searchStepLog(
  context: LogsContext,
  caller: Caller,
  { query, ...name }: StepLogName & { readonly query: SearchQuery },
): Promise<LogSearch> {
  const log = await openLog(context, caller, name);
  return search(context, query, async (searching) => {
    const next = await searching.step({ ...log, usesOf: () => Promise.resolve(log.uses) }, query.after?.line ?? 1);
    return next === null ? null : { run: null, stepRunId: log.stepRunId, line: next };
  });
}

/** The same for all steps of a run, in the order of the plan. */
export async function searchRunLogs(
  context: LogsContext,
  caller: Caller,
  { query, ...name }: Omit<StepLogName, "stepRunId"> & { readonly query: SearchQuery },
): Promise<LogSearch> {
  await reachRun(context, caller, "readLogs", name.runId, name.pipelineId);
  return search(context, query, async (searching) => {
    const steps = await stepsOf(context, name.runId);
    if (steps.length > 0) await requireKeptLog(context, name.runId, steps[0]!.stepRunId);
    return searching.steps(steps, query.after ?? null);
  });
}

/** The same for the runs of a pipeline. A log that several runs share is searched in the run that wrote it. */
export async function searchPipelineLogs(
  context: LogsContext,
  caller: Caller,
  { pipelineId, query }: { readonly pipelineId: PipelineId; readonly query: SearchQuery },
): Promise<LogSearch> {
  await reachPipeline(context, caller, "readLogs", pipelineId);
  return search(context, query, async (searching) => {
    let isBegun = false;
    for await (const { key, place } of runsFrom(context, pipelineId, query.after ?? null)) {
      if (isBegun && searching.isOver) return { run: key, stepRunId: null, line: 1 };
      isBegun = true;
      const steps = await stepsOf(context, asId<RunId>(key.id)).catch(absent);
      const own = steps.filter(({ stepRunId, logOf }) => stepRunId === logOf);
      const next = await searching.steps(own, place);
      if (next !== null) return { ...next, run: key };
    }
    return null;
  });
}

/** What is searched: the logs of one of these. */
export interface SearchedLogs {
  readonly stepRunId?: StepRunId | undefined;
  readonly runId?: RunId | undefined;
  readonly pipelineId?: PipelineId | undefined;
}

/** One of the searches above. Throws `malformed_request` unless exactly one id is given. */
export async function searchLogs(
  context: LogsContext,
  caller: Caller,
  { query, ...searched }: SearchedLogs & { readonly query: SearchQuery },
): Promise<LogSearch> {
  const { stepRunId, runId, pipelineId } = searched;
  if ([stepRunId, runId, pipelineId].filter((id) => id !== undefined).length !== 1) {
    throw new MillraceError("malformed_request", "give one of a step run, a run and a pipeline: its logs are searched");
  }
  if (pipelineId !== undefined) return searchPipelineLogs(context, caller, { pipelineId, query });
  if (runId !== undefined) return searchRunLogs(context, caller, { runId, query });
  const { found } = await reachStep(context, caller, "readLogs", stepRunId!, () => noStepRun(stepRunId!));
  return searchStepLog(context, caller, { runId: found.runId, stepRunId: stepRunId!, query });
}

async function search(
  context: LogsContext,
  query: SearchQuery,
  perform: (searching: Searching) => Promise<SearchPlace | null>,
): Promise<LogSearch> {
  const leave = places.take();
  try {
    const searching = new Searching(context, query);
    await searching.check();
    const next = await perform(searching);
    return { list: searching.list, searchedLines: searching.searchedLines, next: next && cursorOfPlace(next) };
  } finally {
    leave();
  }
}

class Searching {
  readonly list: LogMatch[] = [];
  readonly #context: LogsContext;
  readonly #scan: LogScan;

  constructor(context: LogsContext, { q: text, pattern: isPattern, ...rest }: SearchQuery) {
    this.#context = context;
    this.#scan = new LogScan(context.stores.logs, { text, isPattern, ...rest });
  }

  check(): Promise<void> {
    return this.#scan.check();
  }

  get isOver(): boolean {
    return this.#scan.isOver;
  }

  get searchedLines(): number {
    return this.#scan.searchedLines;
  }

  /** Answers the line at which to go on; null at the end of the log. */
  async step({ runId, jobId, stepRunId, logOf, usesOf }: SearchedStep, from: number): Promise<number | null> {
    const { found, next } = await this.#scan.through(logOf, from);
    if (found.length === 0) return next;
    const writer = await this.#context.stores.aggregates.findStep(logOf);
    const agentId = (writer?.actor.state as StepState | undefined)?.grant?.agentId ?? "";
    const source = { stepRunId, agentId, uses: await usesOf() };
    for (const { line, ranges, before, after } of found) {
      this.list.push({
        runId,
        jobId,
        stepRunId,
        entry: logEntry(line, source),
        ranges: ranges.map(([start, end]) => ({ from: start, to: end })),
        before: before.map((one) => logEntry(one, source)),
        after: after.map((one) => logEntry(one, source)),
      });
    }
    return next;
  }

  /** Searches the steps from a place on. Answers the place at which to go on; null behind the last step. */
  async steps(steps: readonly SearchedStep[], place: SearchPlace | null): Promise<SearchPlace | null> {
    const { stepRunId = null, line = 1 } = place ?? {};
    const first = stepRunId === null ? 0 : steps.findIndex((step) => step.stepRunId === stepRunId);
    if (first < 0) throw new MillraceError("malformed_request", "/after names a step that is not there any more");
    for (const [at, step] of steps.slice(first).entries()) {
      if (at > 0 && this.isOver) return { run: null, stepRunId: step.stepRunId, line: 1 };
      const next = await this.step(step, at === 0 ? line : 1);
      if (next !== null) return { run: null, stepRunId: step.stepRunId, line: next };
    }
    return null;
  }
}

async function stepsOf(context: LogsContext, runId: RunId): Promise<readonly SearchedStep[]> {
  const steps = await stepsWithLog(context, runId);
  return steps.map(({ jobId, stepRunId, logOf, jobIndex, index }) => {
    const usesOf = async () => (await context.stores.plans.loadJob(runId, jobIndex))?.steps[index]?.uses ?? "";
    return { runId, jobId, stepRunId, logOf, usesOf };
  });
}

/** A run that is removed meanwhile has no logs. */
function absent(error: unknown): readonly SearchedStep[] {
  if (error instanceof MillraceError && error.reason === "not_found") return [];
  throw error;
}

/** The runs of a pipeline from a place on, newest first; with the place in the first one of them. */
async function* runsFrom(
  { stores }: LogsContext,
  pipelineId: PipelineId,
  place: SearchPlace | null,
): AsyncGenerator<{ readonly key: ListKey; readonly place: SearchPlace | null }, void, void> {
  if (place?.run != null) {
    const head = await stores.aggregates.loadHead(asId<RunId>(place.run.id));
    // Else it is removed, or a run of another pipeline.
    if (head?.summary.pipelineId === pipelineId) yield { key: place.run, place };
  }
  for (let after: ListKey | undefined = place?.run ?? undefined; ;) {
    const { list, next } = await stores.aggregates.findRuns({ pipelineId }, { limit: RUNS, after });
    for (const head of list) yield { key: keyOf(head), place: null };
    if (next === null) return;
    after = next;
  }
}

const keyOf = ({ rootId, summary }: AggregateHead): ListKey => ({ at: summary.createdAt, id: rootId });
