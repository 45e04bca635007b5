/** `millrace logs`: the logs of a run, step after step, live with `--follow`, or the lines that match `--search`. */
import { setTimeout as sleep } from "node:timers/promises";
import { CommandFailure } from "../../command-line.ts";
import { EXIT } from "../../exit-codes.ts";
import { followRun, incompleteText, SILENCE_MS } from "../../follow-run.ts";
import { findRunId } from "../../remote/find.ts";
import { type RemoteOptions, say, type Session, withServer } from "../../remote/session.ts";
import { visible, visibleJson } from "../../remote/visible.ts";
import type { Job, RunDetail, Step } from "../../run-tree.ts";
import { type LogEntry, logLine } from "../../run-view.ts";
import { paintFor, printable } from "../../screen.ts";
import { searchLogs, type SearchOptions } from "./search-logs.ts";

const UNREACHABLE_MS = 600_000;
/** Of a list of names in a message. */
const MAX_NEXT_CHARS = 500;

export interface LogsOptions extends RemoteOptions, SearchOptions {
  readonly project?: string;
  readonly follow?: boolean;
  readonly job?: string;
  readonly step?: string;
}

type Print = (job: Job, step: Step, entry: LogEntry) => void;

export function logs(run: string, options: LogsOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async (session) => {
    const { client, runs } = session;
    const runId = await findRunId(client, run, options.project);
    const isChosen = (job: Job, step: Step) =>
      (options.job === undefined || options.job === job.name) &&
      (options.step === undefined || options.step === step.name);
    const print = printer(session);
    if (options.follow === true) {
      let isWhole = true;
      const follower = {
        update() {},
        log: (job: Job, step: Step, entry: LogEntry) => {
          if (isChosen(job, step)) print(job, step, entry);
        },
        connection: (isConnected: boolean, reason?: Error) =>
          say(isConnected ? "connected again" : printable(`${reason!.message}; trying again`)),
        incomplete: (job: Job, step: Step) => {
          if (!isChosen(job, step)) return;
          isWhole = false;
          say(printable(incompleteText(job, step)));
        },
      };
      const ended = await followRun(runs, runId, follower, signal, {
        readEveryMs: 1_000,
        unreachableMs: UNREACHABLE_MS,
      });
      requireChosen(ended, options);
      return isWhole ? EXIT.ok : EXIT.unavailable;
    }
    const isSearch = options.search !== undefined;
    const found = await client.get("/pipelines/runs/{runId}", {
      path: { runId },
      ...(isSearch && { query: { attempts: "all" } }),
      signal,
    });
    requireChosen(found, options);
    if (isSearch) {
      const printChosen: Print = (job, step, entry) => {
        if (isChosen(job, step)) print(job, step, entry);
      };
      const between = () => void (session.report.isJson || process.stdout.write("--\n"));
      return searchLogs(session, found, options, { print: printChosen, between });
    }
    return printLogs(session, found, isChosen, print);
  });
}

/** A wrong name is no log without lines. Throws a CommandFailure. */
function requireChosen({ runId, jobs }: RunDetail, { job, step }: LogsOptions): void {
  const named = jobs.filter(({ name }) => job === undefined || name === job);
  if (job !== undefined && named.length === 0) {
    throw missing(`run ${runId} has no job "${job}"`, `its jobs are ${jobs.map(({ name }) => name).join(", ")}`);
  }
  const steps = named.flatMap((one) => one.steps.map(({ name }) => name));
  if (step === undefined || steps.includes(step)) return;
  const where = job === undefined ? `run ${runId}` : `job ${job} of run ${runId}`;
  throw missing(`${where} has no step "${step}"`, `its steps are ${[...new Set(steps)].join(", ")}`);
}

function missing(text: string, next: string): CommandFailure {
  const shown = next.length > MAX_NEXT_CHARS ? `${next.slice(0, MAX_NEXT_CHARS)}...` : next;
  return new CommandFailure(visible(text), EXIT.notFound, { next: visible(shown), machine: { reason: "not_found" } });
}

async function printLogs(
  { runs, signal }: Session,
  run: RunDetail,
  isChosen: (job: Job, step: Step) => boolean,
  print: Print,
): Promise<number> {
  const stream = runs.logs();
  try {
    for (const job of run.jobs) {
      for (const step of job.steps) {
        if (step.startTime === null || !isChosen(job, step)) continue;
        let heardAt = performance.now();
        stream.follow({ pipelineId: run.pipelineId, jobId: job.jobId, stepRunId: step.stepRunId }, (entry) => {
          heardAt = performance.now();
          print(job, step, entry);
        });
        while (!stream.isComplete(step.stepRunId, step.lastLine)) {
          if (performance.now() - heardAt > SILENCE_MS) {
            say(printable(incompleteText(job, step)));
            return EXIT.unavailable;
          }
          await sleep(20, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
        stream.unfollow(step.stepRunId);
      }
    }
    return EXIT.ok;
  } finally {
    stream.close();
  }
}

/** One line for each entry; with `--json`, one JSON object. */
function printer({ report }: Session): Print {
  if (report.isJson) {
    return ({ stage, name, jobId }, step, entry) => {
      const place = { stage, job: name, jobId, step: step.name, stepRunId: step.stepRunId };
      process.stdout.write(`${visibleJson({ ...place, ...entry })}\n`);
    };
  }
  const paint = paintFor(process.stdout);
  return (job, step, entry) => void process.stdout.write(`${logLine(paint, job, step, entry)}\n`);
}
