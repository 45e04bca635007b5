/** The contract of statistics. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId, type RunId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { sampleAggregate, saveOf } from "./samples.ts";

const DAY_MS = 86_400_000;

/** Stores a run of the pipeline that has ended at this time. */
export async function storeEndedAt(stores: Stores, pipelineId = newId("pl"), endedAt = 5): Promise<RunId> {
  const run = sampleAggregate({ pipelineId });
  await stores.aggregates.create(run);
  const summary = { ...run.head.summary, status: "success", startedAt: 1, endedAt } as const;
  await stores.aggregates.save(saveOf(run, { final: true, summary }));
  return run.head.rootId;
}

export function statisticsContract(open: () => Stores): void {
  describe("statistics", () => {
    it("wait to be counted, in the order of the ends, and are counted once", async () => {
      const { statistics } = open();
      const pipelineId = newId("pl");
      // Earlier than the runs of all other tests.
      const second = await storeEndedAt(open(), pipelineId, 2);
      const first = await storeEndedAt(open(), pipelineId, 1);
      await open().aggregates.create(sampleAggregate({ pipelineId }));
      expect(await statistics.uncounted(2)).to.deep.equal([first, second]);
      const of = { pipelineId, job: "build (a.b $c)" };
      const addition = {
        runIds: [first],
        counters: [
          { ...of, day: 7, counters: { success: 1, "duration:3": 1 } },
          { pipelineId, job: "", day: 7, counters: { success: 1 } },
        ],
        failing: [{ ...of, revisions: ["r1 c1", "r2 c2"] }],
      };
      expect(await statistics.add(addition)).to.equal(true);
      expect(await statistics.uncounted(1)).to.deep.equal([second]);
      expect(await statistics.add(addition), "a repeat").to.equal(false);
      expect(await statistics.add({ ...addition, runIds: [second, first] }), "a part of it").to.equal(false);
      const next = [{ ...of, day: 7, counters: { success: 2, "agent:4": 1 } }];
      expect(await statistics.add({ runIds: [second], counters: next, failing: [] })).to.equal(true);
      expect(await statistics.read(pipelineId, 7, 7)).to.have.deep.members([
        { pipelineId, job: "", day: 7, counters: { success: 1 } },
        { ...of, day: 7, counters: { success: 3, "duration:3": 1, "agent:4": 1 } },
      ]);
      expect(await statistics.failing([of, { pipelineId, job: "other" }])).to.deep.equal([
        { ...of, revisions: ["r1 c1", "r2 c2"] },
      ]);
    });

    it("are read from one day to another, forgotten by age, and go with their pipeline", async () => {
      const { statistics } = open();
      const pipelineId = newId("pl");
      const counters = [1, 2, 3].map((day) => ({ pipelineId, job: "", day: 40_000 + day, counters: { failed: day } }));
      const failing = [{ pipelineId, job: "", revisions: ["r1 c1"] }];
      await statistics.add({ runIds: [await storeEndedAt(open(), pipelineId)], counters, failing });
      const days = async () => (await statistics.read(pipelineId, 0, 50_000)).map(({ day }) => day - 40_000);
      expect((await statistics.read(pipelineId, 40_002, 40_003)).map(({ day }) => day)).to.deep.equal([40_002, 40_003]);
      expect(await days()).to.deep.equal([1, 2, 3]);
      // Other tests of this engine have stored older days.
      while ((await statistics.forget(40_003, 1)) > 0);
      expect(await days()).to.deep.equal([3]);
      expect(await statistics.failing(failing)).to.have.length(1);
      await statistics.drop(pipelineId);
      expect(await days()).to.deep.equal([]);
      expect(await statistics.failing(failing)).to.have.length(0);
    });

    it("are made from small runs that are loaded together, with their plans", async () => {
      const { aggregates, plans } = open();
      const ids = [await storeEndedAt(open()), await storeEndedAt(open(), undefined, DAY_MS)];
      const whole = await Promise.all(ids.map((runId) => aggregates.load(runId)));
      const actors = Math.max(...whole.map((one) => one!.actors.length));
      const small = await aggregates.loadSmall([...ids, newId("run")], actors);
      expect(small.map(({ head }) => head.rootId)).to.have.members(ids);
      for (const one of small) expect(one).to.deep.equal(whole.find((other) => other!.head.rootId === one.head.rootId));
      expect(await aggregates.loadSmall(ids, actors - 1)).to.deep.equal([]);
      const plan = planOf([[{ name: "build" }]]);
      await plans.put(ids[0]!, plan, jobSpecsOf(plan));
      expect([...(await plans.loadPlans([...ids, newId("run")]))]).to.deep.equal([[ids[0], plan]]);
    });
  });
}
