/** Checks the lines that viewers saw. Pure. */
import type { Evidence, JobEvidence, LogEvidence, RunEvidence, Span, StepEvidence, Violation } from "./evidence.ts";

/**
 * After the end of a step, its last lines may still be on their way to the control plane for this long, and longer by the
 * time in which they could not be stored. A flooding step leaves 10 MB in 40 batches, each of which takes five calls to the
 * store one after the other: 5 s where a call takes 25 ms, and 25 s on a machine that is five times as slow. The control
 * plane waits 30 s for lines before it tells viewers that they are lost.
 */
const IN_FLIGHT_MS = 30_000;
/** How the reason of a step begins that did not end by itself. */
const NOT_ITS_END = /^(agent_lost|dispatch_failed)/;

interface Owner {
  readonly run: RunEvidence;
  readonly job: JobEvidence;
  readonly step: StepEvidence;
}

/**
 * A viewer sees each line once, in order, from line 1 to the last line that the step wrote, whether the step succeeds or
 * fails. A gap record may replace lines only when the step's agent was lost with them, or had no room for them.
 */
export function checkLogs({
  logs,
  runs,
  acknowledged,
  absences,
  outages,
  disturbances,
}: Evidence): readonly Violation[] {
  const steps = new Map(
    runs.flatMap((run) => run.jobs.flatMap((job) => job.steps.map((step) => [step.stepRunId, { run, job, step }]))),
  );
  return [
    ...logs.flatMap((log) => checkLog(log, steps.get(log.stepRunId), absences, [...outages, ...disturbances])),
    ...checkWatched(runs, acknowledged, new Set(logs.map(({ stepRunId }) => stepRunId))),
  ];
}

function checkLog(
  { stepRunId, written, mayOverflow, seen }: LogEvidence,
  owner: Owner | undefined,
  absences: Evidence["absences"],
  withoutStore: readonly Span[],
): readonly Violation[] {
  const found: Violation[] = [];
  const say = (kind: Violation["kind"], text: string) => found.push({ kind, text: `log of ${stepRunId}: ${text}` });
  const endedAt = owner?.run.events.findLast((event) => event.stepRunId === stepRunId)?.timeMs ?? 0;
  const diedWithLines = absences.some(({ agentId, how, fromMs }) => {
    const inFlightMs = Math.abs(fromMs - endedAt) - lengthWithin(withoutStore, endedAt, fromMs);
    return how === "killed" && agentId === owner?.job.agentId && inFlightMs < IN_FLIGHT_MS;
  });
  const mayHaveGap = mayOverflow || diedWithLines || owner?.step.reason === "agent_lost";
  const seenNumbers = new Set<number>();
  let next = 1;
  for (const { number, text, lostThrough } of seen) {
    if (number > next) say("lost", `line ${number} came when ${next} was due`);
    else if (seenNumbers.has(number)) say("doubled", `line ${number} came again`);
    else if (number < next) say("reordered", `line ${number} came after ${next - 1}`);
    if (lostThrough !== null && !mayHaveGap) say("lost", `a gap record replaces lines ${number} to ${lostThrough}`);
    if (lostThrough !== null && lostThrough > written) say("wrong", `a gap record replaces lines beyond the last one`);
    if (lostThrough === null && text !== `line ${number}`) say("wrong", `line ${number} reads ${JSON.stringify(text)}`);
    seenNumbers.add(number);
    next = Math.max(next, (lostThrough ?? number) + 1);
  }
  if (next > written + 1) say("doubled", `the log ends with line ${next - 1}, and the step wrote ${written}`);
  if (endedByItself(owner?.step) && next <= written) say("lost", `the log ends with line ${next - 1} of ${written}`);
  return found;
}

/** Every step that writes lines was watched, so that none is left out of the evidence. */
function checkWatched(
  runs: readonly RunEvidence[],
  acknowledged: Evidence["acknowledged"],
  watched: ReadonlySet<string>,
): readonly Violation[] {
  const talking = new Set(
    acknowledged.flatMap(({ runId, definition }) => {
      const steps = (definition.jobs ?? []).flatMap((job) => job.steps);
      return steps.some(({ env }) => env?.["LINES_TO_SAY"] || env?.["LINES_TO_FLOOD"]) ? [runId] : [];
    }),
  );
  return runs.flatMap(({ runId, jobs }) => {
    if (!talking.has(runId)) return [];
    const unseen = jobs.flatMap(({ steps }) =>
      steps.filter((step) => endedByItself(step) && !watched.has(step.stepRunId)),
    );
    return unseen.map(({ stepRunId }): Violation => ({ kind: "lost", text: `no viewer saw the log of ${stepRunId}` }));
  });
}

function endedByItself(step: StepEvidence | undefined): boolean {
  if (step === undefined) return false;
  return step.status === "success" || (step.status === "failed" && !NOT_ITS_END.test(step.reason));
}

/** How many of the milliseconds between two times lie within spans, which do not overlap. */
function lengthWithin(spans: readonly Span[], fromMs: number, untilMs: number): number {
  return spans.reduce(
    (sum, span) => sum + Math.max(0, Math.min(span.untilMs, untilMs) - Math.max(span.fromMs, fromMs)),
    0,
  );
}
