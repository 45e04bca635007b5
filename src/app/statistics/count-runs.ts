/**
 * Counts runs that have ended, some at a time, after their end: so a run costs no statement more. The store marks them in
 * the same transaction, so each is counted once. Their tests are recorded and the spans of the runs are sent on the way. Runs that older releases have stored are counted in the same way.
 */
import type { RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import type { CountedOf, DayCounters, FailingRevisions } from "../../stores/ports/statistics.ts";
import { loopShare } from "../loop-share.ts";
import type { StatisticsContext } from "./context.ts";
import { type CountedRun, countedOf } from "./ended-runs.ts";
import { addSample, DAY_MS, dayOf, type Sample } from "./counters.ts";
import { spansOf } from "../runs/run-spans.ts";
import { recordTests } from "./record-tests.ts";

/** Runs that are counted together; their actors are read in one piece. */
const RUNS_AT_ONCE = 20;
/** The same when all of them have ended in this process a moment ago, so that nothing is read of them. */
const KNOWN_AT_ONCE = 60;
/** A run with more actors is read alone, in pieces. */
const SMALL_ACTORS = 50;
/** Days that counters are kept. */
export const KEPT_DAYS = 90;
/** Failing revisions that are remembered of a job: the newest. */
const MAX_FAILING = 8;
/** Counters of one call of deletion. */
const FORGOTTEN_AT_ONCE = 200;

/** Counts what has ended, some runs at a time, at most so many times. Yields after each time. */
export async function* countRuns(context: StatisticsContext, times: number): AsyncGenerator<void, void, void> {
  const { statistics } = context.stores;
  for (let time = 0; time < times; time++) {
    const found = await statistics.uncounted(KNOWN_AT_ONCE);
    if (found.length === 0) return;
    const areKnown = found.every((runId) => context.endedRuns?.has(runId));
    // When another node was faster, the next look finds other runs.
    await countSome(context, areKnown ? found : found.slice(0, RUNS_AT_ONCE));
    yield;
  }
}

/** Deletes counters and histories of tests that are too old. Yields after each piece of work. */
export async function* forgetCounters({ stores, clock }: StatisticsContext): AsyncGenerator<void, void, void> {
  const before = dayOf(clock.now()) - KEPT_DAYS;
  do yield;
  while ((await stores.statistics.forget(before, FORGOTTEN_AT_ONCE)) >= FORGOTTEN_AT_ONCE);
  do yield;
  while ((await stores.testHistories.forget(before * DAY_MS, FORGOTTEN_AT_ONCE)) >= FORGOTTEN_AT_ONCE);
}

async function countSome(context: StatisticsContext, runIds: readonly RunId[]): Promise<void> {
  const { aggregates, plans, statistics } = context.stores;
  const oldest = dayOf(context.clock.now()) - KEPT_DAYS;
  const found: CountedRun[] = [];
  const known = new Map(runIds.map((runId) => [runId, context.endedRuns?.take(runId)]));
  const unknown = runIds.filter((runId) => known.get(runId) === undefined);
  const small = unknown.length === 0 ? [] : await aggregates.loadSmall(unknown, SMALL_ACTORS);
  const plansOfSmall = small.length === 0 ? new Map() : await plans.loadPlans(small.map(({ head }) => head.rootId));
  const byId = new Map(small.map((aggregate) => [aggregate.head.rootId, aggregate]));
  for (const runId of runIds) {
    const kept = known.get(runId);
    if (kept !== undefined) {
      if (dayOf(kept.endedAt) >= oldest) found.push(kept);
      continue;
    }
    const aggregate: Aggregate | undefined =
      byId.get(runId) ?? (await aggregates.loadInPieces(runId, () => loopShare.enter()));
    if (aggregate === undefined || dayOf(aggregate.head.summary.endedAt!) < oldest) continue;
    const plan = plansOfSmall.get(runId) ?? (await plans.loadPlanInPieces(runId, () => loopShare.enter()));
    await loopShare.enter();
    if (plan === undefined) continue;
    found.push(countedOf(aggregate, plan));
    // Before the runs are marked as counted: when this process is killed, the next look finds them again.
    await recordTests(context, aggregate, plan);
    await sendSpans(context, aggregate, plan);
  }
  const sums = new Sums(await statistics.failing(countedIn(found)));
  for (const run of found) {
    const byJob = new Map<string, Sample[]>();
    for (const { job, sample } of run.samples) {
      const cells = byJob.get(job);
      if (cells === undefined) byJob.set(job, [sample]);
      else cells.push(sample);
    }
    for (const [job, cells] of byJob) sums.add(run, job, cells);
  }
  await statistics.add({ runIds, counters: sums.counters, failing: sums.failing });
}

async function sendSpans(context: StatisticsContext, aggregate: Aggregate, plan: RunPlan): Promise<void> {
  const { spans, stores, publicUrl } = context;
  if (spans === undefined) return;
  const { pipelineId } = aggregate.head.summary;
  const pipelineName = (await stores.pipelines.find(pipelineId))?.name ?? pipelineId;
  await spans.export(spansOf({ aggregate, plan, pipelineName, publicUrl }));
}

function countedIn(found: readonly CountedRun[]): readonly CountedOf[] {
  const all = found.flatMap(({ pipelineId, samples }) => samples.map(({ job }) => ({ pipelineId, job })));
  return [...new Map(all.map((one) => [keyOf(one), one])).values()];
}

/** What some runs add, in the order of their ends. */
class Sums {
  readonly #failing: Map<string, FailingRevisions>;
  readonly #changed = new Set<string>();
  readonly #counters = new Map<string, DayCounters & { readonly counters: Record<string, number> }>();

  constructor(failing: readonly FailingRevisions[]) {
    this.#failing = new Map(failing.map((one) => [keyOf(one), one]));
  }

  get counters(): readonly DayCounters[] {
    return [...this.#counters.values()];
  }

  get failing(): readonly FailingRevisions[] {
    return [...this.#changed].map((key) => this.#failing.get(key)!);
  }

  /** `samples`: the cells of the job, or the only one. */
  add({ pipelineId, endedAt, revision }: CountedRun, job: string, samples: readonly Sample[]): void {
    const of = { pipelineId, job };
    const hasRecovered = this.#turn(of, revision, samples);
    const day = dayOf(endedAt);
    const key = `${day} ${keyOf(of)}`;
    let ofDay = this.#counters.get(key);
    if (ofDay === undefined) this.#counters.set(key, (ofDay = { pipelineId, job, day, counters: {} }));
    for (const [nth, sample] of samples.entries()) {
      addSample(ofDay.counters, { ...sample, flaky: sample.flaky || (nth === 0 && hasRecovered) });
    }
  }

  /** Remembers a failure, and forgets it with a success. True when a success follows a failure on the same revision. */
  #turn(of: CountedOf, revision: string, samples: readonly Sample[]): boolean {
    const hasFailed = samples.some(({ result }) => result === "failed" || result === "partial");
    if (!hasFailed && samples.some(({ result }) => result === "cancelled")) return false;
    const key = keyOf(of);
    const before = this.#failing.get(key)?.revisions ?? [];
    const wasFailing = before.includes(revision);
    if (wasFailing === hasFailed) return false;
    const others = before.filter((one) => one !== revision);
    this.#failing.set(key, { ...of, revisions: wasFailing ? others : [...others, revision].slice(-MAX_FAILING) });
    this.#changed.add(key);
    return wasFailing;
  }
}

function keyOf({ pipelineId, job }: CountedOf): string {
  return `${pipelineId} ${job}`;
}
