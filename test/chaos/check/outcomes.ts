/**
 * Compares each run with its definition: every job, cell and step that the definition makes is there, nothing else is,
 * and each ended as the definition says. Pure.
 */
import { type ExpectedJob, expand } from "./expansion.ts";
import type { AcknowledgedTrigger, Evidence, JobEvidence, RunEvidence, StepEvidence, Violation } from "./evidence.ts";
import { groupBy } from "./groups.ts";
import { isLostWithItsAgents, LOSSES } from "./losses.ts";

const FINAL: readonly string[] = ["success", "failed", "cancelled", "partial", "timeout", "skipped"];
/** How a job or step may end in a run that was stopped, besides the way that the definition says. */
const STOPPED: readonly string[] = ["cancelled", "skipped"];

export function checkOutcomes({ acknowledged, runs }: Pick<Evidence, "acknowledged" | "runs">): readonly Violation[] {
  const byId = new Map(runs.map((run) => [run.runId, run]));
  return acknowledged.flatMap((trigger) => {
    const run = byId.get(trigger.runId);
    // `checkTriggers` and `checkEnded` report these.
    if (run === undefined || !FINAL.includes(run.status)) return [];
    const repeated = trigger.repeats === null ? undefined : byId.get(trigger.repeats);
    return checkRun(run, trigger, repeated);
  });
}

function checkRun(
  run: RunEvidence,
  { definition, vote, repeats }: AcknowledgedTrigger,
  repeated: RunEvidence | undefined,
): readonly Violation[] {
  const found: Violation[] = [];
  const say = (kind: Violation["kind"], text: string) => found.push({ kind, text: `run ${run.runId}: ${text}` });
  const expected = new Map(expand(definition, vote).map((job) => [keyOf(job), job]));
  const attempts = groupBy(run.jobs, keyOf);
  const isLost = isLostWithItsAgents(run);
  for (const [key, job] of expected) {
    const list = (attempts.get(key) ?? []).toSorted((a, b) => a.attempt - b.attempt);
    const isLateCell = job.values.length > 0 && expected.get(keyOf({ name: job.name, values: [] }))?.isSpread === true;
    if (list.length === 0) {
      // The cells are made when the job begins, which it does not after the loss of a job before it.
      if (!(isLost && isLateCell)) say("lost", `the definition has ${key}, the run has not`);
      continue;
    }
    list.forEach(({ attempt }, at) => {
      if (attempt !== at + 1)
        say(attempt <= at ? "doubled" : "lost", `${key} has attempt ${attempt} as number ${at + 1}`);
    });
    for (const text of reuseProblems(list, repeated, repeats !== null, key)) say("wrong", text);
    for (const one of list.slice(0, -1))
      if (!LOSSES.includes(one.reason)) say("wrong", `${key} was retried although attempt ${one.attempt} was not lost`);
    if (isLost && job.isSpread && list.at(-1)!.status !== "success") continue;
    for (const one of list) for (const text of missingSteps(one, job)) say("lost", `${key}: ${text}`);
    for (const text of openParts(list)) say("stuck", `${key}: ${text}`);
    if (!isLost) for (const text of differences(list.at(-1)!, job, run)) say("wrong", `${key}: ${text}`);
  }
  for (const key of attempts.keys()) if (!expected.has(key)) say("wrong", `the definition has no ${key}`);
  return found;
}

/** Steps, and attempts of steps, that the attempt of the job lacks or has too many of. */
function missingSteps({ steps }: JobEvidence, expected: ExpectedJob): readonly string[] {
  const byIndex = groupBy(steps, ({ index }) => index);
  const strangers = [...byIndex.keys()].filter((index) => index >= expected.steps.length);
  return [
    ...strangers.map((index) => `it has a step ${index}, which the definition has not`),
    ...expected.steps.flatMap((_, index) => {
      const numbers = (byIndex.get(index) ?? []).map(({ attempt }) => attempt).toSorted((a, b) => a - b);
      const isWhole = numbers.length > 0 && numbers.every((attempt, at) => attempt === at + 1);
      return isWhole ? [] : [`step ${index} has the attempts ${JSON.stringify(numbers)}`];
    }),
  ];
}

function openParts(attempts: readonly JobEvidence[]): readonly string[] {
  return attempts.flatMap(({ jobId, status, steps }) => [
    ...(FINAL.includes(status) ? [] : [`the run has ended, and job ${jobId} is ${status}`]),
    ...steps
      .filter((step) => !FINAL.includes(step.status))
      .map((step) => `the run has ended, and step ${step.stepRunId} is ${step.status}`),
  ]);
}

/** How the last attempt differs from what the definition says. */
function differences(job: JobEvidence, expected: ExpectedJob, { status }: RunEvidence): readonly string[] {
  const isStopped = status === "cancelled";
  const agrees = (actual: string, due: string) => actual === due || (isStopped && STOPPED.includes(actual));
  const byIndex = groupBy(job.steps, ({ index }) => index);
  const ofSteps = expected.steps.flatMap(({ statuses }, index) => {
    const actual = (byIndex.get(index) ?? []).toSorted((a, b) => a.attempt - b.attempt).map((step) => step.status);
    const isDue = isStopped
      ? actual.every((one, at) => agrees(one, statuses[at] ?? ""))
      : // A rerun has only the last attempt of a step that it reuses.
        sameList(actual, job.reused ? statuses.slice(-1) : statuses);
    return isDue ? [] : [`step ${index} is ${actual.join(", ")} instead of ${statuses.join(", ")}`];
  });
  if (agrees(job.status, expected.status)) return ofSteps;
  return [`it is ${job.status} (${job.reason}) instead of ${expected.status}`, ...ofSteps];
}

/** A rerun of the failed jobs reuses exactly the jobs that had succeeded; any other run reuses none. Attempts are asked one by one. */
function reuseProblems(
  attempts: readonly JobEvidence[],
  repeated: RunEvidence | undefined,
  isRepeat: boolean,
  key: string,
): readonly string[] {
  if (!isRepeat) {
    const reused = attempts.filter((one) => one.reused);
    return reused.map(({ attempt }) => `${key} is reused in attempt ${attempt}, and the run repeats no other`);
  }
  const before = repeated?.jobs
    .filter((job) => keyOf(job) === key)
    .toSorted((a, b) => a.attempt - b.attempt)
    .at(-1);
  if (before === undefined) return [];
  const wrong = attempts.filter(({ reused }) => reused !== (before.status === "success"));
  return wrong.map(({ attempt, reused }) => {
    return `${key} is ${reused ? "" : "not "}reused in attempt ${attempt}, and it was ${before.status} in the run before`;
  });
}

function keyOf({ name, values }: Pick<JobEvidence, "name" | "values">): string {
  const cell = values.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([axis, value]) => `${axis}=${value}`);
  return `job ${[name, ...cell].join(" ")}`;
}

function sameList(a: readonly StepEvidence["status"][], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}
