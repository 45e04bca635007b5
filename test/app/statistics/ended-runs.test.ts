/** What is kept of runs that have ended in this process counts as what is read of them. */
import { expect } from "chai";
import { countRuns } from "../../../src/app/statistics/count-runs.ts";
import { EndedRuns } from "../../../src/app/statistics/ended-runs.ts";
import { newId, type PipelineId } from "../../../src/domain/ids.ts";
import type { StoredActor } from "../../../src/stores/ports/aggregates.ts";
import type { StatisticsContext } from "../../../src/app/statistics/context.ts";
import { LargeRun } from "../../support/large-runs.ts";
import { planOf } from "../../support/plans.ts";
import { storeEnded } from "../../support/stored-large-runs.ts";
import { openTestSqlite } from "../../support/stores.ts";

const JOBS = [
  { name: "build", baseName: "build" },
  { name: "test", baseName: "test" },
];
/** More than are read together. */
const RUNS = 24;

describe("runs that have ended in this process", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  beforeEach(async () => (opened = await openTestSqlite()));
  afterEach(() => opened.close());

  /** Stores ended runs of a pipeline, every third of which has failed. Those that `isNoted` chooses are noted. */
  async function storeRuns(endedRuns: EndedRuns, pipelineId: PipelineId, isNoted: (nth: number) => boolean) {
    let endedAt = 0;
    for (let nth = 0; nth < RUNS; nth++) {
      const plan = { ...planOf([JOBS]), pipelineId };
      const run = new LargeRun(plan, undefined, undefined, newId("run"));
      let before = new Map<string, StoredActor>(run.snapshot.actors.map((actor) => [actor.id, actor]));
      run.onSaved = (head, changed) => {
        if (isNoted(nth)) endedRuns.note(changed, before, head, plan);
        before = new Map([...before, ...changed.map((actor) => [actor.id, actor] as const)]);
      };
      run.pass(100);
      run.claim(run.jobs("queued"));
      run.pass(1_000 + nth);
      run.finish(({ jobIndex }) => (nth % 3 === 0 && jobIndex === 1 ? "failed" : "succeeded"));
      await storeEnded(opened.stores, run, plan);
      endedAt = run.snapshot.head.summary.endedAt!;
    }
    return endedAt;
  }

  async function counted(isNoted: (nth: number) => boolean) {
    const endedRuns = new EndedRuns();
    const pipelineId = newId("pl");
    const now = await storeRuns(endedRuns, pipelineId, isNoted);
    const read: string[] = [];
    const { aggregates } = opened.stores;
    const loadSmall: typeof aggregates.loadSmall = (runIds, atMost) => {
      read.push(...runIds);
      return aggregates.loadSmall(runIds, atMost);
    };
    const reading = new Proxy(aggregates, {
      get: (target, name) => (name === "loadSmall" ? loadSmall : (Reflect.get(target, name) as unknown)),
    });
    const clock = { now: () => now, monotonic: () => now };
    const context = { stores: { ...opened.stores, aggregates: reading }, clock, endedRuns } as StatisticsContext;
    for await (const _ of countRuns(context, 10));
    const found = await opened.stores.statistics.read(pipelineId, 0, Number.MAX_SAFE_INTEGER);
    return { read, counters: found.map(({ day, job, counters }) => ({ day, job, counters })) };
  }

  it("are counted as those that are read, and not read; also some of each", async () => {
    const none = await counted(() => false);
    expect(none.read).to.have.length(RUNS);
    expect(none.counters.map(({ job }) => job)).to.deep.equal(["", "build", "test"]);
    expect(none.counters[0]!.counters).to.include({ success: 16, failed: 8 });
    const all = await counted(() => true);
    expect(all).to.deep.equal({ read: [], counters: none.counters });
    const half = await counted((nth) => nth % 2 === 0);
    expect(half.read).to.have.length(RUNS / 2);
    expect(half.counters).to.deep.equal(none.counters);
  });

  it("are kept only until they are counted", async () => {
    const endedRuns = new EndedRuns();
    await storeRuns(endedRuns, newId("pl"), () => true);
    const [runId] = await opened.stores.statistics.uncounted(1);
    expect(endedRuns.take(runId!)?.samples.map(({ job }) => job)).to.deep.equal(["", "build", "test"]);
    expect(endedRuns.has(runId!)).to.equal(false);
  });
});
