/**
 * Adds the tests of an ended run to the histories of its pipeline's tests. Safe to repeat: a history has one result of each
 * run.
 */
import { hash } from "node:crypto";
import { jobName } from "../../../actors/job/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { TestCase } from "../../domain/notes/notes.ts";
import type { PlannedJob, RunPlan } from "../../domain/plan.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import type { NoteKey } from "../../stores/ports/outputs.ts";
import type { TestIdentity } from "../../stores/ports/statistics.ts";
import { loopShare } from "../loop-share.ts";
import { statesByKind } from "../runs/run-view.ts";
import { inPlanOrder, type PlacedStep } from "../runs/step-run-view.ts";
import { declaresTests } from "../runs/test-counts.ts";
import type { StatisticsContext } from "./context.ts";
import { revisionOf } from "./ended-runs.ts";
import { laterOf, type TestOfRun, withResult } from "./test-histories.ts";

/** Tests of one run that are recorded: of each step failed ones first, then flaky ones, then the slowest. */
const MAX_TESTS_OF_RUN = 10_000;
/** Tests of one pipeline whose histories are kept. */
export const MAX_TESTS = 20_000;
const TESTS_AT_ONCE = 200;
/** Another node may record another run of the pipeline at the same time. */
const TRIES = 10;

export async function recordTests(context: StatisticsContext, aggregate: Aggregate, plan: RunPlan): Promise<void> {
  if (!declaresTests(plan)) return;
  const tests = await testsOf(context, aggregate, plan);
  if (tests.length === 0) return;
  for (let at = 0; at < tests.length; at += TESTS_AT_ONCE) {
    await loopShare.enter();
    await addTests(context, tests.slice(at, at + TESTS_AT_ONCE));
  }
  await context.stores.testHistories.trim(plan.pipelineId, MAX_TESTS);
}

async function addTests({ stores: { testHistories } }: StatisticsContext, tests: readonly TestOfRun[]): Promise<void> {
  const [{ pipelineId }] = tests as readonly [TestOfRun];
  const ids = tests.map(({ testId }) => testId);
  for (let tried = 0; tried < TRIES; tried++) {
    const stored = new Map((await testHistories.find(pipelineId, ids)).map((one) => [one.testId, one]));
    const changed = tests.flatMap((test) => withResult(stored.get(test.testId), test) ?? []);
    if (changed.length === 0 || (await testHistories.put(changed))) return;
  }
  throw new MillraceError("unavailable", `the tests of pipeline ${pipelineId} are being changed by others`);
}

async function testsOf(context: StatisticsContext, aggregate: Aggregate, plan: RunPlan): Promise<readonly TestOfRun[]> {
  const { rootId: runId, origin, summary } = aggregate.head;
  const { pipelineId } = summary;
  const parts = new Map<string, NoteKey[]>();
  for (const place of await context.stores.notes.placesOf(runId, "cases")) {
    const key = `${place.stepRunId}/${place.token}`;
    parts.set(key, [...(parts.get(key) ?? []), place]);
  }
  if (parts.size === 0) return [];
  const { jobs, steps } = statesByKind(aggregate);
  const found = new Map<string, { readonly of: TestIdentity; readonly test: TestCase; readonly stepRunId: string }>();
  for (const placed of inPlanOrder(jobs, steps, true)) {
    const { step } = placed;
    if (step.grant === null || step.reusedFrom !== null) continue;
    const keys = parts.get(`${step.stepRunId}/${step.grant.token}`) ?? [];
    for (const key of keys.toSorted((a, b) => a.part - b.part)) {
      for (const test of await casesOf(context, key)) {
        const of = { ...placeOf(placed, plan), suite: test.suite, name: test.name };
        const testId = hash("sha256", JSON.stringify(Object.values(of)), "hex").slice(0, 32);
        const before = found.get(testId);
        // Two tests of one report that only their files tell apart count as one: a failed one comes first.
        if (before?.stepRunId === step.stepRunId) continue;
        if (before === undefined && found.size >= MAX_TESTS_OF_RUN) continue;
        const counted = before === undefined ? test : laterOf(before.test, test);
        found.set(testId, { of, test: counted, stepRunId: step.stepRunId });
      }
    }
  }
  const revision = hash("sha256", revisionOf(origin), "hex").slice(0, 12);
  return [...found].map(([testId, { of, test }]) => {
    const { file, line, outcome, isFlaky, durationMs } = test;
    const result = { runId, at: summary.endedAt!, outcome, isFlaky, durationMs, revision };
    return { pipelineId, testId, ...of, file, line, result };
  });
}

async function casesOf({ stores }: StatisticsContext, key: NoteKey): Promise<readonly TestCase[]> {
  await loopShare.enter();
  const [note] = await stores.notes.find([key]);
  return note === undefined ? [] : (JSON.parse(note.body) as readonly TestCase[]);
}

function placeOf({ step, job }: PlacedStep, plan: RunPlan): Pick<TestIdentity, "job" | "step"> {
  const planned = plan.jobs[job.index];
  return planned === undefined
    ? { job: "", step: "" }
    : { job: jobName(planned, job), step: stepName(planned, step.index) };
}

/** Steps of the same name are told apart by their positions. */
function stepName({ steps }: PlannedJob, index: number): string {
  const name = steps[index]?.name ?? "";
  return steps.filter((step) => step.name === name).length > 1 ? `${name} (${index + 1})` : name;
}
