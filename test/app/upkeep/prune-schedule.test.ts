import { expect } from "chai";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { AppContext } from "../../../src/app/context.ts";
import { RetentionPruner } from "../../../src/app/upkeep/retention-pruner.ts";
import { pruneRuns } from "../../../src/app/upkeep/prune-runs.ts";
import { PruneSchedule } from "../../../src/app/upkeep/prune-schedule.ts";
import { newId, type PipelineId, type ProjectId, type RunId } from "../../../src/domain/ids.ts";
import type { RetentionRules } from "../../../src/domain/retention.ts";
import { UNBOUNDED } from "../../../src/domain/retention-text.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { countCalls } from "../../support/counted-stores.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { jobSpecsOf, MANUAL_ORIGIN, planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { pipelineRecord } from "../../support/pipelines.ts";

const DAY_MS = 86_400_000;
const NO_RULES: RetentionRules = { runs: UNBOUNDED, logs: UNBOUNDED, artifacts: UNBOUNDED, events: UNBOUNDED };

describe("the schedule of retention", () => {
  let store: Awaited<ReturnType<typeof openTestSqlite>>;
  let stores: Stores;
  let takeCalls: () => number;
  let now: number;
  let schedule: PruneSchedule;

  beforeEach(async () => {
    store = await openTestSqlite();
    ({ stores, takeCalls } = countCalls(store.stores));
    now = 1_000 * DAY_MS;
    schedule = new PruneSchedule();
  });
  afterEach(() => store.close());

  const contextOf = (): AppContext =>
    ({
      stores,
      clock: { now: () => now, monotonic: () => now },
      log: silentLog,
      shards: 16,
    }) as Partial<AppContext> as AppContext;

  async function newPipelines(count: number, projectId = "default"): Promise<readonly PipelineId[]> {
    const ids = Array.from({ length: count }, () => newId("pl"));
    const of = { projectId: projectId as ProjectId };
    await Promise.all(ids.map((pipelineId) => store.stores.pipelines.create(pipelineRecord(pipelineId, of))));
    return ids;
  }

  /** A run that was created then, and has ended at once when it is settled. */
  async function addRun(pipelineId: PipelineId, at: number, settled = true): Promise<RunId> {
    const runId = newId("run");
    const plan = { ...planOf([[{}]]), pipelineId };
    const { head, actors } = createRunAggregate({ runId, shard: 0, plan, now: at, origin: MANUAL_ORIGIN });
    const ended = { ...head.summary, status: "success", endedAt: at } as const;
    const end = settled ? { final: true, settled, owed: [], nextDueAt: null, summary: ended } : {};
    await store.stores.aggregates.create(
      { head: { ...head, ...end }, actors },
      { plan: { graph: plan, jobs: jobSpecsOf(plan) } },
    );
    return runId;
  }

  /** One pass; answers how many runs it deleted. */
  async function pass(rules: Partial<RetentionRules>): Promise<number> {
    let pruned = 0;
    const pruning = { rules: { ...NO_RULES, ...rules }, isMine: () => true, onPruned: () => pruned++, schedule };
    for await (const _ of pruneRuns(contextOf(), pruning));
    return pruned;
  }
  const isThere = async (runId: RunId) => (await store.stores.aggregates.loadHead(runId)) !== undefined;
  const age = { ...UNBOUNDED, ageMs: 10 * DAY_MS };

  it("asks as little about a hundred idle pipelines as about two", async () => {
    const calls: number[] = [];
    for (const more of [2, 98]) {
      for (const pipelineId of await newPipelines(more)) await addRun(pipelineId, now - DAY_MS);
      schedule = new PruneSchedule();
      const rules = { runs: age, logs: { ...age, perPipeline: 5 }, events: { ...age, perProject: 500 } };
      await pass(rules);
      now += 60_000;
      takeCalls();
      await pass(rules);
      calls.push(takeCalls());
    }
    expect(calls[1]).to.equal(calls[0]);
    expect(calls[0]).to.be.at.most(2);
  });

  it("looks at a pipeline when its oldest run comes of age", async () => {
    const [pipelineId] = await newPipelines(1);
    const old = await addRun(pipelineId!, now - 9 * DAY_MS);
    const newer = await addRun(pipelineId!, now - 5 * DAY_MS);
    await addRun(pipelineId!, now - DAY_MS);
    expect(await pass({ runs: age })).to.equal(0);
    now += DAY_MS + 1;
    expect(await pass({ runs: age })).to.equal(1);
    expect([await isThere(old), await isThere(newer)]).to.deep.equal([false, true]);
    expect(await pass({ runs: age })).to.equal(0);
    now += 4 * DAY_MS;
    expect(await pass({ runs: age })).to.equal(1);
  });

  it("looks at a pipeline with a new run, and again until a run that is too many has ended", async () => {
    const [pipelineId, other] = await newPipelines(2);
    const rules = { runs: { ...UNBOUNDED, perPipeline: 1 } };
    const live = await addRun(pipelineId!, now - 2, false);
    await addRun(other!, now - 2);
    expect(await pass(rules)).to.equal(0);
    await addRun(pipelineId!, now - 1);
    expect(await pass(rules), "the older run is at work").to.equal(0);
    const aggregate = (await store.stores.aggregates.load(live))!;
    const { version } = aggregate.head;
    const head = { ...aggregate.head, version: version + 1, final: true, settled: true, owed: [], nextDueAt: null };
    await store.stores.aggregates.save({ expectedVersion: version, head, changed: [], events: [] });
    now += 60_000;
    expect(await pass(rules)).to.equal(1);
    expect(await isThere(live)).to.equal(false);
  });

  it("looks at the other pipelines of a project that has a bound for all", async () => {
    const [busy, quiet] = await newPipelines(2);
    const rules = { logs: { ...UNBOUNDED, perProject: 2 } };
    await addRun(quiet!, now - 20);
    await addRun(busy!, now - 10);
    expect(await pass(rules)).to.equal(0);
    await addRun(busy!, now - 5);
    expect(await pass(rules), "the log of the quiet pipeline").to.equal(1);
    expect(await pass(rules)).to.equal(0);
  });

  it("looks at all pipelines of a project whose rules were changed, and at a deleted pipeline after hours", async () => {
    const [pipelineId] = await newPipelines(1);
    const runs = [await addRun(pipelineId!, now - 3 * DAY_MS), await addRun(pipelineId!, now - 2 * DAY_MS)];
    await store.stores.pipelines.createProject({ projectId: "default" as ProjectId, name: "p", createdAt: 1 });
    expect(await pass({ runs: age })).to.equal(0);
    await store.stores.pipelines.changeProject("default" as ProjectId, {
      retention: { runs: { ...UNBOUNDED, perPipeline: 1 } },
    });
    expect(await pass({ runs: age })).to.equal(1);
    await store.stores.pipelines.delete(pipelineId!);
    now += 7 * 3_600_000;
    expect(await pass({ runs: age })).to.equal(1);
    expect(await Promise.all(runs.map(isThere))).to.deep.equal([false, false]);
  });

  it("begins again with a shard that the worker gains", async () => {
    const owned: number[] = [];
    const [pipelineId] = await newPipelines(1);
    await addRun(pipelineId!, now - 20 * DAY_MS);
    await addRun(pipelineId!, now);
    const retention = { rules: { ...NO_RULES, runs: age }, recordsMs: DAY_MS, auditMs: DAY_MS };
    const pruner = new RetentionPruner(contextOf(), retention, {
      owned: () => owned,
      ages: { mayDelete: () => Promise.resolve(true) },
    });
    await pruner.pass();
    expect(pruner.figures.deleted.runs).to.equal(0);
    owned.push(...Array.from({ length: 16 }, (_, shard) => shard));
    await pruner.pass();
    expect(pruner.figures).to.deep.include({ oldestRunAt: now });
    expect(pruner.figures.deleted.runs).to.equal(1);
  });
});
