/** How corruptions pick a part of a record and change it everywhere at once, as a fault of the program would. */
import type {
  ActorEvidence,
  Evidence,
  JobEvidence,
  LogEvidence,
  ProjectionRow,
  PromisedStart,
  RunEvidence,
  StepEvidence,
  Transition,
} from "./check/evidence.ts";
import type { Random } from "./world/random.ts";

/** A step of the shell that succeeded at its first attempt, in a job with one attempt, in a run that succeeded. */
export function isPlainSuccess({
  run,
  job,
  step,
}: {
  run: RunEvidence;
  job: JobEvidence;
  step: StepEvidence;
}): boolean {
  const isOnly = run.jobs.filter(({ index, cell }) => index === job.index && cell === job.cell).length === 1;
  const isFirst = job.steps.filter(({ index }) => index === step.index).length === 1;
  const isSuccess = run.status === "success" && step.status === "success";
  return isOnly && isFirst && isSuccess && !step.reused && step.silent !== true;
}

export function pickRun(record: Evidence, random: Random, isFit: (run: RunEvidence) => boolean): RunEvidence {
  return pickFrom(record.runs.filter(isFit), random, "run");
}

export function pickStart(
  { starts }: Evidence,
  random: Random,
  isFit: (start: PromisedStart) => boolean,
): PromisedStart {
  return pickFrom(
    starts.filter((start) => start.isCertain && isFit(start)),
    random,
    "start",
  );
}

export function startedBy({ runs }: Evidence, by: string): RunEvidence {
  return need(
    runs.find((run) => run.startedBy === by),
    `the run of ${by}`,
  );
}

export function withoutRun(record: Evidence, run: RunEvidence): Evidence {
  const less = { ...record, runs: record.runs.filter((other) => other !== run) };
  return withRun(less, run, "untraced");
}

export function pickPaused({ runs, pauses }: Evidence, random: Random): RunEvidence {
  const ids = new Set(pauses.map(({ runId }) => runId));
  const fit = runs.filter(
    ({ runId, events }) => ids.has(runId) && events.some(({ lifecycle }) => lifecycle === "resumed"),
  );
  return pickFrom(fit, random, "run that was paused and resumed");
}

export function pickStep(
  { runs }: Evidence,
  random: Random,
  isFit: (found: { run: RunEvidence; job: JobEvidence; step: StepEvidence }) => boolean,
): { readonly run: RunEvidence; readonly job: JobEvidence; readonly step: StepEvidence } {
  const all = runs.flatMap((run) => run.jobs.flatMap((job) => job.steps.map((step) => ({ run, job, step }))));
  return pickFrom(all.filter(isFit), random, "step");
}

export function pickFrom<T>(items: readonly T[], random: Random, what: string): T {
  if (items.length === 0) throw new Error(`the record has no fit ${what}`);
  return random.pick(items);
}

export function need<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`the record lacks ${what}`);
  return found;
}

export const wholeLogs = ({ logs, runs }: Evidence): readonly LogEvidence[] => {
  const ended = new Set(
    runs.flatMap(({ jobs }) =>
      jobs.flatMap(({ steps }) => steps.filter(({ status }) => status === "success").map(({ stepRunId }) => stepRunId)),
    ),
  );
  return logs.filter(({ stepRunId, written, seen }) => ended.has(stepRunId) && seen.length === written);
};

export function withLog(
  record: Evidence,
  random: Random,
  change: (seen: LogEvidence["seen"]) => LogEvidence["seen"],
): Evidence {
  const log = pickFrom(wholeLogs(record), random, "log");
  return { ...record, logs: replaced(record.logs, log, { ...log, seen: change(log.seen) }) };
}

/** `untraced`: steps that the run no longer has left no marks, no log and no secret either. */
export function withRun(record: Evidence, run: RunEvidence, traces: "traced" | "untraced" = "traced"): Evidence {
  const runs = record.runs.map((other) => (other.runId === run.runId ? run : other));
  if (traces === "traced") return { ...record, runs };
  const left = new Set(runs.flatMap(stepIdsOf));
  const isLeft = ({ stepRunId }: { readonly stepRunId: string }) => left.has(stepRunId);
  const { marks, logs, secretsGiven } = record;
  return {
    ...record,
    runs,
    marks: marks.filter(isLeft),
    logs: logs.filter(isLeft),
    secretsGiven: secretsGiven.filter(isLeft),
  };
}

export function withoutJob(run: RunEvidence, job: JobEvidence): RunEvidence {
  const jobs = run.jobs.filter((other) => other.jobId !== job.jobId);
  return withoutActors({ ...run, jobs }, [job.jobId, ...job.steps.map(({ stepRunId }) => stepRunId)]);
}

export function withoutActors(run: RunEvidence, ids: readonly string[]): RunEvidence {
  const isLeft = ({ id }: ActorEvidence | ProjectionRow) => !ids.includes(id);
  const events = run.events.filter(({ jobId, stepRunId }) => !ids.includes(stepRunId ?? jobId ?? ""));
  const { before, after } = run.rows;
  const rows = { before: before.filter(isLeft), after: after.filter(isLeft) };
  return { ...run, actors: run.actors.filter(isLeft), rows, ...numbered(events) };
}

/** Gives a step another status, everywhere at once. */
export function withStatus(run: RunEvidence, { stepRunId }: StepEvidence, status: StepEvidence["status"]): RunEvidence {
  const isIt = ({ id }: ActorEvidence | ProjectionRow) => id === stepRunId;
  const rowsOf = (rows: readonly ProjectionRow[]) => rows.map((row) => (isIt(row) ? { ...row, status } : row));
  const events = run.events.map((event) =>
    event.stepRunId === stepRunId && event.lifecycle === "completed"
      ? { ...event, status, lifecycle: "skipped" as const }
      : event.stepRunId === stepRunId && status === "running"
        ? { ...event }
        : event,
  );
  return {
    ...run,
    events,
    jobs: run.jobs.map((job) => ({
      ...job,
      steps: job.steps.map((step) => (step.stepRunId === stepRunId ? { ...step, status } : step)),
    })),
    actors: run.actors.map((actor) => (isIt(actor) ? { ...actor, phase: status } : actor)),
    rows: { before: rowsOf(run.rows.before), after: rowsOf(run.rows.after) },
  };
}

/** The events under new numbers, as if the store had counted them so; each at the time of its place. */
export function numbered(events: readonly Transition[]): Pick<RunEvidence, "events" | "eventNumber"> {
  const times = events.map(({ timeMs }) => timeMs).toSorted((a, b) => a - b);
  const renumbered = events.map((event, at) => ({ ...event, number: at + 1, timeMs: times[at]! }));
  return { events: renumbered, eventNumber: events.length };
}

export function stepIdsOf({ jobs }: RunEvidence): readonly string[] {
  return jobs.flatMap(({ steps }) => steps.map(({ stepRunId }) => stepRunId));
}

export function replaced<T>(items: readonly T[], item: T, by: T): readonly T[] {
  return items.map((other) => (other === item ? by : other));
}

export function without<T>(items: readonly T[], random: Random): readonly T[] {
  return items.toSpliced(random.between(0, items.length - 1), 1);
}
