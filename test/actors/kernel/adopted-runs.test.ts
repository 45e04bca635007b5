/** Runs that the kernel takes into memory right after this process has stored them, instead of loading them. */
import { expect } from "chai";
import { grantAtOnce, offersOf, takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import type { Kernel } from "../../../actors/kernel/kernel.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Aggregate } from "../../../src/stores/ports/aggregates.ts";
import { claimOf, KERNEL_SHARD as SHARD, KernelWorld, reportOf } from "../../support/kernel-world.ts";
import { jobSpecsOf, MANUAL_ORIGIN, planOf } from "../../support/plans.ts";
import { until } from "../../support/until.ts";

const QUIET = { sweepMs: 60_000, creatorMs: 60_000, watchMs: 60_000 };

describe("a run that the kernel adopts", () => {
  const plan = planOf([[{}]]);
  let world: KernelWorld;
  let kernel: Kernel;
  let loads: number;

  beforeEach(async () => {
    world = await KernelWorld.open();
    kernel = world.kernel(QUIET);
    loads = 0;
    const { aggregates, plans } = world.stores;
    const load = aggregates.load.bind(aggregates);
    aggregates.load = (rootId) => {
      loads++;
      return load(rootId);
    };
    const loadPlan = plans.loadPlan.bind(plans);
    plans.loadPlan = (runId) => {
      loads++;
      return loadPlan(runId);
    };
  });
  afterEach(() => world.close());

  /** Stores a run as an edge does that has reserved a slot for its job, or none. */
  async function begin({ granted }: { readonly granted: boolean }): Promise<Aggregate> {
    const runId = newId("run");
    const now = Date.now();
    const created = createRunAggregate({ runId, shard: SHARD, plan, origin: MANUAL_ORIGIN, now });
    const offering = takeFirstTurn(created, plan, now, RUN_AGGREGATE, () => []);
    const claims = offersOf(offering).map(({ jobId }) => ({ ...claimOf(runId), to: { kind: "job", id: jobId } }));
    const begun = granted ? grantAtOnce(offering, claims, plan, now, RUN_AGGREGATE, () => []) : offering;
    await world.stores.aggregates.create(begun, { plan: { graph: plan, jobs: jobSpecsOf(plan) } });
    return begun;
  }

  function succeeded({ head: { rootId }, actors }: Aggregate) {
    const { grant } = actors.find(({ kind }) => kind === "step")!.state as StepState;
    const report = reportOf(rootId, "succeeded");
    return { ...report, message: { ...report.message, token: grant!.token } };
  }

  const statusOf = async ({ head }: Aggregate) => (await world.stores.aggregates.loadHead(head.rootId))!.summary.status;

  it("is decided without a load of its snapshot or its plan", async () => {
    await kernel.open(SHARD, 1);
    const run = await begin({ granted: true });
    kernel.adopt(run, plan);
    await kernel.receive(SHARD, [succeeded(run)]);
    expect(await statusOf(run)).to.equal("success");
    expect(loads).to.equal(0);
    expect(kernel.counters).to.include({ conflicts: 0, activations: 0 });
  });

  it("is loaded and decided again when another owner has saved it since", async () => {
    await kernel.open(SHARD, 1);
    const run = await begin({ granted: true });
    kernel.adopt(run, plan);
    const other = world.kernel(QUIET);
    await other.open(SHARD, 2);
    await other.receive(SHARD, [{ ...succeeded(run), message: { ...succeeded(run).message, phase: "started" } }]);
    await kernel.receive(SHARD, [succeeded(run)]);
    expect(await statusOf(run)).to.equal("success");
    expect(kernel.counters.conflicts).to.equal(1);
  });

  it("leaves what its first turn owes to its creator for the grace, and performs the rest after it", async () => {
    kernel = world.kernel({ ...QUIET, sweepMs: 20, creatorMs: 100 });
    await kernel.open(SHARD, 1);
    const run = await begin({ granted: true });
    kernel.adopt(run, plan);
    expect(world.ports.notices("dispatch")).to.deep.equal([]);
    await until("the dispatch is made", () => world.ports.notices("dispatch").length === 1);
  });

  it("owes what its creator performs until the creator has told that it is done", async () => {
    await kernel.open(SHARD, 1);
    const [carrying, done] = [await begin({ granted: true }), await begin({ granted: true })];
    const owedToCreator = async ({ head }: Aggregate): Promise<readonly string[]> => {
      const { owed } = (await world.stores.aggregates.loadHead(head.rootId))!;
      return owed.flatMap(({ effect, leftToCreator }) => (leftToCreator === true ? [effect.type] : []));
    };
    for (const run of [carrying, done]) kernel.adopt(run, plan);
    kernel.creatorIsDone(done.head.rootId);
    for (const run of [carrying, done]) {
      const report = succeeded(run);
      await kernel.receive(SHARD, [{ ...report, message: { ...report.message, phase: "started" } }]);
    }
    expect(await owedToCreator(carrying)).to.include("dispatch");
    expect(await owedToCreator(done)).to.deep.equal([]);
    expect(world.ports.notices("dispatch"), "the creator's effects are not performed again").to.deep.equal([]);
  });

  it("owes nothing of its creator when it is loaded after the creator has told that it is done", async () => {
    kernel = world.kernel({ ...QUIET, sweepMs: 20, creatorMs: 0, passivateMs: 20 });
    const waiting = await begin({ granted: false });
    kernel.creatorIsDone(waiting.head.rootId);
    await kernel.open(SHARD, 1);
    const stored = async () => (await world.stores.aggregates.loadHead(waiting.head.rootId))!;
    await until("a sweep has settled it", async () => (await stored()).owed.length === 0);
    expect((await stored()).version).to.equal(2);
    expect(world.ports.offered, "no offer is made again").to.deep.equal([]);
  });

  it("is kept in memory while no agent has it, unless many runs are there", async () => {
    kernel = world.kernel({ ...QUIET, waitingMax: 1 });
    await kernel.open(SHARD, 1);
    const runs = [await begin({ granted: false }), await begin({ granted: false }), await begin({ granted: true })];
    const inMemory = runs.map((run) => {
      kernel.adopt(run, plan);
      return kernel.counters.activations;
    });
    expect(inMemory, "after each").to.deep.equal([1, 1, 2]);
  });

  it("is not kept in memory where its shard is not open", async () => {
    const granted = await begin({ granted: true });
    kernel.adopt(granted, plan);
    await kernel.open(SHARD, 1);
    expect(kernel.counters.activations).to.equal(0);
    await kernel.receive(SHARD, [succeeded(granted)]);
    expect(await statusOf(granted)).to.equal("success");
    expect(loads).to.equal(2);
  });

  it("leaves memory when it is idle, and is loaded for its next message", async () => {
    kernel = world.kernel({ ...QUIET, sweepMs: 20, passivateMs: 40 });
    await kernel.open(SHARD, 1);
    const run = await begin({ granted: true });
    kernel.adopt(run, plan);
    await until("it has left memory", () => kernel.counters.activations === 0);
    await kernel.receive(SHARD, [succeeded(run)]);
    expect(await statusOf(run)).to.equal("success");
    expect(loads).to.equal(2);
  });
});
