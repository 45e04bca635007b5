/**
 * Compares the steps' marks with the store: each step ran at most once, and never on two agents at the same time. Pure.
 */
import type { JobEvidence, Mark, RunEvidence, StepEvidence, Violation } from "./evidence.ts";
import { groupBy } from "./groups.ts";

/** A step's last mark may be this much later than its final event, because two processes read the clock. */
const END_TOLERANCE_MS = 250;

export function checkSteps(runs: readonly RunEvidence[], marks: readonly Mark[]): readonly Violation[] {
  const byStep = groupBy(marks, ({ stepRunId }) => stepRunId);
  const known = new Set(runs.flatMap(({ jobs }) => jobs.flatMap(({ steps }) => steps.map((step) => step.stepRunId))));
  const unknownIds = [...byStep.keys()].filter((id) => !known.has(id));
  return [
    ...unknownIds.map((id): Violation => ({ kind: "lost", text: `step ${id} ran, but the store does not know it` })),
    ...runs.flatMap((run) => [
      ...run.jobs.flatMap(({ steps }) =>
        steps.flatMap((step) => checkStep(run, step, byStep.get(step.stepRunId) ?? [])),
      ),
      ...checkAttempts(run, byStep),
    ]),
  ];
}

function checkStep(run: RunEvidence, step: StepEvidence, marks: readonly Mark[]): readonly Violation[] {
  const found: Violation[] = [];
  const say = (kind: Violation["kind"], text: string) =>
    found.push({ kind, text: `step ${step.stepRunId} of run ${run.runId} (${step.status}): ${text}` });
  if (step.reused) {
    if (marks.length > 0) say("doubled", "it was reused, but ran again");
    return found;
  }
  const starts = marks.filter(({ word }) => word === "start").length;
  const ends = marks.filter(({ word }) => word === "end").length;
  if (starts > 1) say("doubled", `it was started ${starts} times`);
  if (ends > 1) say("doubled", `it ended ${ends} times`);
  if (step.silent) return found;
  const ranToItsEnd =
    step.status === "success" ||
    (step.status === "failed" && step.reason !== "agent_lost" && !step.reason.startsWith("dispatch_failed"));
  if (ranToItsEnd && (starts === 0 || ends === 0)) say("lost", "its start mark or its end mark is missing");
  if (step.status === "timeout" && starts === 0) say("lost", "it timed out without having been started");
  if ((step.status === "skipped" || step.status === "pending") && marks.length > 0) say("wrong", "it ran");
  const endedAt = run.events.findLast(({ stepRunId }) => stepRunId === step.stepRunId)?.timeMs;
  const lastAt = marks.at(-1)?.at;
  if (endedAt !== undefined && lastAt !== undefined && lastAt > endedAt + END_TOLERANCE_MS)
    say("doubled", `it was still running ${Math.round(lastAt - endedAt)} ms after its end in the store`);
  return found;
}

/** The attempts of a job do not overlap: an attempt begins only after all steps of the previous attempt have ended. */
function checkAttempts(run: RunEvidence, byStep: ReadonlyMap<string, readonly Mark[]>): readonly Violation[] {
  return [...groupBy(run.jobs, ({ index, cell }) => `${index}.${cell}`).values()].flatMap((attempts) => {
    const spans = attempts
      .toSorted((a, b) => a.attempt - b.attempt)
      .map((job) => ({ job, span: spanOf(job, byStep) }))
      .filter(({ span }) => span !== null);
    return spans.slice(1).flatMap(({ job, span }, at): readonly Violation[] => {
      const before = spans[at]!;
      if (before.span!.last < span!.first) return [];
      const text = `job ${job.jobId} of run ${run.runId} ran on two agents: attempt ${before.job.attempt} until ${before.span!.last}, attempt ${job.attempt} from ${span!.first}`;
      return [{ kind: "doubled", text }];
    });
  });
}

function spanOf(
  job: JobEvidence,
  byStep: ReadonlyMap<string, readonly Mark[]>,
): { readonly first: number; readonly last: number } | null {
  const times = job.steps.flatMap(({ stepRunId }) => byStep.get(stepRunId) ?? []).map(({ at }) => at);
  if (times.length === 0) return null;
  return { first: Math.min(...times), last: Math.max(...times) };
}
