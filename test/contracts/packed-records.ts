/** Packed events, plans and states in a store, beside those of the form before. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import type { RunEvent } from "../../src/domain/events.ts";
import { asId, type JobRunId, newId, type RunId, type StepRunId } from "../../src/domain/ids.ts";
import { versionedStores } from "../../src/node/stores.ts";
import { PACKED_RECORDS_SCHEMA, STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { actorOf, sampleAggregate, saveOf, withIndex } from "./samples.ts";

const noPause = () => Promise.resolve();

function eventsOf(runId: RunId, from: number, to: number, timeMs: number): readonly RunEvent[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({
    runId,
    pipelineId: asId("pl_1"),
    number: from + at,
    timeMs,
    object: "step",
    lifecycle: "started",
    jobId: asId("job_1"),
    stepRunId: asId("step_1"),
    status: "running",
    data: { reason: "größe 🚂", index: from + at, exitCode: null },
  }));
}

export function packedRecordsContract(open: () => Stores): void {
  describe("packed records", () => {
    it("of events are read each once, also beside single ones and when a save repeats them", async () => {
      const runId = newId("run");
      const turns = [eventsOf(runId, 1, 2, 1), eventsOf(runId, 3, 80, 2), eventsOf(runId, 81, 83, 3)] as const;
      const { events, inspection } = open();
      await events.append(turns[0]);
      await events.append(turns[1], true);
      await events.append(turns.flat(), true);
      await events.append(turns.flat(), false);
      const all = turns.flat();
      expect(await events.read(runId, 0, 1_000)).to.deep.equal(all);
      for (const [after, limit] of [
        [1, 1],
        [10, 30],
        [33, 50],
        [82, 5],
        [83, 5],
      ] as const) {
        expect(await events.read(runId, after, limit)).to.deep.equal(all.slice(after, after + limit));
      }
      expect(await inspection.eventNumbers(runId, 40, 20)).to.deep.equal(all.slice(40, 60).map(({ number }) => number));
    });

    it("of events lose none when one ends where a shorter one does", async () => {
      for (const packs of [true, false]) {
        const runId = newId("run");
        await open().events.append(eventsOf(runId, 9, 9, 1), packs);
        await open().events.append(eventsOf(runId, 7, 9, 1), true);
        await open().events.append(eventsOf(runId, 8, 9, 1), true);
        expect(await open().events.read(runId, 0, 10)).to.deep.equal(eventsOf(runId, 7, 9, 1));
      }
    });

    it("of a plan have its jobs, and do not change", async () => {
      const { plans } = open();
      const plan = planOf([[{ steps: 2 }], [{ needs: [0] }]]);
      const jobs = jobSpecsOf(plan);
      for (const packs of [true, false]) {
        const runId = newId("run");
        await plans.put(runId, plan, jobs, packs);
        await plans.put(runId, { ...plan, namespace: "other" }, jobs, !packs);
        expect(await plans.loadPlan(runId)).to.deep.equal(plan);
        expect(await plans.loadPlanInPieces(runId, noPause)).to.deep.equal(plan);
        expect(await plans.loadPlans([runId])).to.deep.equal(new Map([[runId, plan]]));
        expect(await plans.loadJob(runId, 1)).to.deep.equal(jobs[1]);
        expect(await plans.loadJob(runId, 2)).to.equal(undefined);
      }
    });

    it("of a run are read as those of the form before, in which it began", async () => {
      let writes = PACKED_RECORDS_SCHEMA - 1;
      const stores = versionedStores(open(), STORED_FORMAT, () => writes);
      const { aggregates, events, plans } = stores;
      const plan = planOf([[{ steps: 1 }]]);
      const run = sampleAggregate({ plan });
      const runId = run.head.rootId;
      const begun = eventsOf(runId, 1, 3, 1);
      await aggregates.create(run, { plan: { graph: plan, jobs: jobSpecsOf(plan) }, events: begun });
      writes = PACKED_RECORDS_SCHEMA;
      const step = actorOf(run, "step");
      const ended = [actorOf(run, "run"), actorOf(run, "job"), step].map((actor) =>
        withIndex(actor, { status: "success" }, { ...(actor.state as object), state: "success", endedAt: 77 }),
      );
      const final = { final: true, settled: true, nextDueAt: null, eventNumber: 6 };
      const save = { ...saveOf(run, final, ended), events: eventsOf(runId, 1, 3, 1).concat(eventsOf(runId, 4, 6, 2)) };
      expect(await aggregates.save(save)).to.equal("saved");

      expect(await events.read(runId, 0, 10)).to.deep.equal(save.events);
      expect(await plans.loadPlan(runId)).to.deep.equal(plan);
      expect(await plans.loadJob(runId, 0)).to.deep.equal(jobSpecsOf(plan)[0]);
      const loaded = (await aggregates.load(runId))!;
      for (const actor of ended) expect(loaded.actors.find(({ id }) => id === actor.id)).to.deep.equal(actor);
      expect(await aggregates.loadInPieces(runId, noPause)).to.deep.equal(loaded);
      expect((await aggregates.loadSmall([runId], 10))[0]).to.deep.equal(loaded);
      expect((await aggregates.findStep(step.id as StepRunId))!.actor).to.deep.equal(ended[2]);
      expect((await aggregates.findJob(ended[1]!.id as JobRunId))!.actor).to.deep.equal(ended[1]);
      const part = (await aggregates.loadJobs(runId, (jobs) => jobs.map(({ jobId }) => jobId), noPause))!;
      expect(part.aggregate.actors).to.have.length(3);
      expect(part.jobs).to.deep.equal([{ jobId: ended[1]!.id, index: 0, cell: null, attempt: 1, endedAt: 77 }]);
      expect((await stores.inspection.read(runId))!.actors).to.deep.equal(loaded.actors);
    });
  });
}
