/** Large runs in a store, and a look at how they are read. */
import type { PipelineId, RunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { LargeRun } from "./large-runs.ts";
import { jobSpecsOf, planOf } from "./plans.ts";
import { until } from "./until.ts";

/** Stores a run as its owner leaves it after its end. Answers its id, which is the same for each run. */
export async function storeEnded(stores: Pick<Stores, "aggregates">, run: LargeRun, plan: RunPlan): Promise<RunId> {
  const { head, actors } = run.snapshot;
  const settled = { ...head, version: 1, final: true, settled: true, owed: [], nextDueAt: null };
  await stores.aggregates.create({ head: settled, actors }, { plan: { graph: plan, jobs: jobSpecsOf(plan) } });
  return run.runId;
}

/** Stores a run of so many jobs of one step, all of which have succeeded. */
export async function storeWideRun(
  stores: Pick<Stores, "aggregates">,
  jobs: number,
  pipelineId: PipelineId,
): Promise<RunId> {
  const plan = { ...planOf([Array.from({ length: jobs }, () => ({}))]), pipelineId };
  const run = new LargeRun(plan);
  run.finish();
  return storeEnded(stores, run, plan);
}

/** Counts the loads of runs. While it holds them, those in pieces wait. */
export class CountedLoads {
  /** Loads at once and in pieces. */
  loads = 0;
  /** Reads of the size of a run: each reader of a run in detail reads it first. */
  sizes = 0;
  #held = false;

  constructor({ aggregates }: Pick<Stores, "aggregates">) {
    const load = aggregates.load.bind(aggregates);
    const inPieces = aggregates.loadInPieces.bind(aggregates);
    const sizeOf = aggregates.sizeOf.bind(aggregates);
    Object.assign(aggregates, {
      load: (...args: Parameters<typeof load>) => {
        this.loads++;
        return load(...args);
      },
      loadInPieces: async (...args: Parameters<typeof inPieces>) => {
        this.loads++;
        await until("loads may go on", () => !this.#held);
        return inPieces(...args);
      },
      sizeOf: async (...args: Parameters<typeof sizeOf>) => {
        const size = await sizeOf(...args);
        this.sizes++;
        return size;
      },
    });
  }

  hold(): void {
    this.loads = 0;
    this.sizes = 0;
    this.#held = true;
  }

  /** Lets loads go on when so many callers have asked. */
  async releaseAfter(callers: number): Promise<void> {
    await until(`${callers} callers have asked`, () => this.sizes >= callers);
    // Each of them asks for the answer in the same turn in which it learns the size.
    await new Promise((resolve) => setImmediate(resolve));
    this.#held = false;
  }
}
