/** All logs of a run as one ZIP archive, made as the reader takes it: no more than one page of one log is in memory. */
import { jobName } from "../../../actors/job/state.ts";
import type { PipelineId, RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { stepName } from "../../../actors/job/step-name.ts";
import type { WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import { findPlan } from "../lookups.ts";
import { reachRun } from "../reaching.ts";
import { requireKeptLog } from "../runs/kept-parts.ts";
import type { LogsContext } from "./context.ts";
import { requireReadableLogs } from "../content/cold-logs.ts";
import { logText } from "./log-text.ts";
import { Places } from "./places.ts";
import { type StepWithLog, stepsWithLog } from "./run-steps.ts";
import { MAX_FILE_BYTES, type ZipFile, zipOf } from "./zip.ts";

/** Each archive compresses with a thread of the pool, which the commits of the store use too. */
const places = new Places(2, "archives of logs");
/** Of a stage, a job or a step in the name of a file. */
const MAX_NAME_CHARS = 60;

/** An archive that has a place, which the reader must give back. */
export interface LogArchive {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly close: () => void;
}

/**
 * An archive with a file for each attempt of each step. Of a step that runs, lines that are stored after the file was begun are
 * not in it.
 * Throws `forbidden`, `too_many`, `not_found` for a run whose logs were removed, and `unavailable` while the object storage
 * that has some of them is away.
 */
export async function openLogArchive(
  context: LogsContext & WithStores<"blobs">,
  caller: Caller,
  { pipelineId, runId }: { readonly pipelineId: PipelineId; readonly runId: RunId },
): Promise<LogArchive> {
  await reachRun(context, caller, "readLogs", runId, pipelineId);
  const steps = await stepsWithLog(context, runId);
  const plan = await findPlan(context, runId);
  if (steps.length > 0) await requireKeptLog(context, runId, steps[0]!.stepRunId);
  await requireReadableLogs(
    context,
    steps.map(({ logOf }) => logOf),
  );
  const close = places.take();
  return { bytes: zipOf(filesOf(context, steps, plan)), close };
}

async function* filesOf(
  { stores, clock }: LogsContext,
  steps: readonly StepWithLog[],
  plan: RunPlan,
): AsyncGenerator<ZipFile, void, void> {
  for (const step of steps) {
    const through = await stores.logs.storedThrough(step.logOf);
    const { logOf: stepRunId, lastLine } = step;
    const text = logText(stores.logs, { stepRunId, through, lastLine, timestamps: true });
    const modifiedAt = step.endedAt ?? clock.now();
    const path = pathOf(step, plan);
    const parts = new Parts(text);
    for (let part = 1; part === 1 || !parts.isOver; part++) {
      yield { path: part === 1 ? `${path}.log` : `${path}.part-${part}.log`, modifiedAt, content: parts.next() };
    }
  }
}

/** A long text in parts that fit into a file of the archive. */
class Parts {
  readonly #text: AsyncIterator<Buffer, void>;
  isOver = false;

  constructor(text: AsyncIterator<Buffer, void>) {
    this.#text = text;
  }

  async *next(): AsyncGenerator<Buffer, void, void> {
    for (let bytes = 0; bytes < MAX_FILE_BYTES;) {
      const { done, value } = await this.#text.next();
      if (done === true) {
        this.isOver = true;
        return;
      }
      bytes += value.length;
      yield value;
    }
  }
}

/** The numbers make the paths unique, and sort the files as the plan does. */
function pathOf(
  { jobIndex, cell, matrix, index, jobAttempt, attempt }: StepWithLog,
  { jobs, stages }: RunPlan,
): string {
  const job = jobs[jobIndex]!;
  const stage = `${number(job.stage)}-${fileName(stages[job.stage]!.name)}`;
  const cellNumber = matrix.length === 0 ? "" : `.${cell + 1}`;
  const again = jobAttempt === 1 ? "" : `.attempt-${jobAttempt}`;
  const ofJob = `${number(jobIndex)}${cellNumber}-${fileName(jobName(job, { matrix }))}${again}`;
  const stepAgain = attempt === 1 ? "" : `.attempt-${attempt}`;
  return `${stage}/${ofJob}/${number(index)}-${fileName(stepName(job.steps[index], matrix))}${stepAgain}`;
}

/** Counts from 1, as people do. */
function number(index: number): string {
  return `${index + 1}`.padStart(2, "0");
}

/** A name that every system takes: what a definition calls its parts may hold any character. */
function fileName(name: string): string {
  return Array.from(name)
    .slice(0, MAX_NAME_CHARS)
    .join("")
    .replace(/[^\p{L}\p{N} ()=,_+-]+/gu, "_")
    .trim();
}
