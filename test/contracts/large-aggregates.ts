/** The contract of reads of large aggregates. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { asId, newId, type RunId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { sampleAggregate, sampleApproval, saveOf, withIndex } from "./samples.ts";

export function largeAggregateContract(open: () => Stores): void {
  describe("large aggregates", function () {
    // The MongoDB-wire server of the tests takes seconds for each while all files run.
    this.timeout(180_000);

    it("are loaded in pieces, all from one moment, with pauses between them", async () => {
      const { aggregates } = open();
      const aggregate = sampleAggregate({ plan: planOf([Array.from({ length: 300 }, () => ({ steps: 2 }))]) });
      const { rootId } = aggregate.head;
      await aggregates.create(aggregate);
      const whole = (await aggregates.load(rootId))!;
      const step = withIndex(aggregate.actors.at(-1)!, { status: "queued" }, { changed: true });
      let pauses = 0;
      let turned = 0;
      const loading = aggregates.loadInPieces(rootId, async () => {
        // A save in the middle of the load.
        if (++pauses === 3) await aggregates.save(saveOf(aggregate, { eventNumber: 3 }, [step]));
        await new Promise((resolve) => setImmediate(resolve));
        turned++;
      });
      const loaded = (await loading)!;
      expect(loaded.head).to.deep.equal(whole.head);
      expect(loaded.actors).to.deep.equal(whole.actors);
      expect(turned, "901 actors").to.be.above(8);
      const changed = (await aggregates.loadInPieces(rootId, async () => {}))!;
      expect(changed).to.deep.equal(await aggregates.load(rootId));
      expect(changed.head.version).to.equal(2);
      expect(await aggregates.loadInPieces(asId<RunId>("run_NONE"), async () => {})).to.equal(undefined);
    });

    it("are loaded in pieces by several callers at once, also when one of them fails", async () => {
      const { aggregates } = open();
      const aggregate = sampleAggregate({ plan: planOf([Array.from({ length: 100 }, () => ({ steps: 2 }))]) });
      const { rootId } = aggregate.head;
      await aggregates.create(aggregate);
      const [failed, ...others] = await Promise.allSettled([
        aggregates.loadInPieces(rootId, () => Promise.reject(new Error("enough"))),
        aggregates.loadInPieces(rootId, () => new Promise((resolve) => setImmediate(resolve))),
        aggregates.loadInPieces(rootId, async () => {}),
      ]);
      expect(failed).to.include({ status: "rejected" });
      const whole = await aggregates.load(rootId);
      for (const each of others) expect(each).to.deep.equal({ status: "fulfilled", value: whole });
    });

    it("are read in part: the jobs that are chosen, with their steps, of all jobs in brief", async () => {
      const { aggregates } = open();
      const plan = planOf([Array.from({ length: 520 }, () => ({ steps: 2 }))]);
      const aggregate = sampleAggregate({ plan });
      const { rootId } = aggregate.head;
      await aggregates.create(aggregate);
      const jobs = aggregate.actors.filter(({ kind }) => kind === "job");
      const ended = jobs.map((job) => ({
        ...job,
        state: { ...(job.state as object), endedAt: 7 + job.index.position },
      }));
      const approval = sampleApproval(aggregate, { stage: 0 }, 7);
      await aggregates.save(saveOf(aggregate, {}, [...ended, approval]));
      const whole = (await aggregates.load(rootId))!;
      let seen = 0;
      const part = (await aggregates.loadJobs(
        rootId,
        (all) => {
          seen = all.length;
          return [all[510]!.jobId, all[3]!.jobId];
        },
        async () => {},
      ))!;
      expect(seen).to.equal(520);
      expect(part.jobs).to.deep.equal(
        ended.map(({ id, index: { position } }) => {
          return { jobId: id, index: position, cell: null, attempt: 1, endedAt: 7 + position };
        }),
      );
      expect(part.aggregate.head).to.deep.equal(whole.head);
      const chosen = new Set<string | null>([ended[3]!.id, ended[510]!.id]);
      const expected = whole.actors.filter(
        ({ kind, id, index }) => kind === "run" || kind === "approval" || chosen.has(id) || chosen.has(index.jobId),
      );
      expect(expected).to.have.length(1 + 2 + 4 + 1);
      expect(part.aggregate.actors).to.have.deep.members(expected);
      const none = (await aggregates.loadJobs(
        rootId,
        () => [],
        async () => {},
      ))!;
      expect(none.aggregate.actors.map(({ kind }) => kind)).to.deep.equal(["run", "approval"]);
      expect(
        await aggregates.loadJobs(
          asId<RunId>("run_NONE"),
          () => [],
          async () => {},
        ),
      ).to.equal(undefined);
      const refused = await aggregates
        .loadJobs(
          rootId,
          () => {
            throw new Error("no such job");
          },
          async () => {},
        )
        .catch((error: Error) => error.message);
      expect(refused).to.equal("no such job");
    });

    it("have plans that are read in pieces", async () => {
      const { plans } = open();
      const runId = newId("run");
      const plan = planOf([Array.from({ length: 250 }, (_, at) => ({ name: `a "quoted\\" [job] {${at}},` }))]);
      await plans.put(runId, plan, jobSpecsOf(plan));
      let pauses = 0;
      expect(await plans.loadPlanInPieces(runId, async () => void pauses++)).to.deep.equal(plan);
      expect(pauses).to.be.at.least(3);
      expect(await plans.loadPlanInPieces(newId("run"), async () => {})).to.equal(undefined);
    });

    it("tell their version and their number of actors, counted up to a bound", async () => {
      const { aggregates } = open();
      const aggregate = sampleAggregate({ plan: planOf([[{ steps: 2 }, {}]]) });
      const { rootId } = aggregate.head;
      await aggregates.create(aggregate);
      expect(await aggregates.sizeOf(rootId, 100)).to.deep.equal({ version: 1, actors: 6 });
      expect(await aggregates.sizeOf(rootId, 4)).to.deep.equal({ version: 1, actors: 4 });
      await aggregates.save(saveOf(aggregate, {}, [sampleApproval(aggregate, { stage: 0 }, 7)]));
      expect(await aggregates.sizeOf(rootId, 100)).to.deep.equal({ version: 2, actors: 7 });
      expect(await aggregates.sizeOf(asId<RunId>("run_NONE"), 100)).to.equal(undefined);
    });
  });
}
