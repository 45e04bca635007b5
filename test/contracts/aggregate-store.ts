/** The contract of the store of aggregates. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { type AgentId, asId, type JobRunId, newId, type RunId, type StepRunId } from "../../src/domain/ids.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { DueAggregate, OwedRecord } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { actorOf, allPages, byText, sampleAggregate, sampleApproval, saveOf, withIndex } from "./samples.ts";

const OWED: OwedRecord = {
  effect: { type: "withdraw", jobId: asId<JobRunId>("job_X"), projectId: asId("default") },
  eventNumber: null,
  at: 1,
};

export function aggregateStoreContract(open: () => Stores): void {
  describe("aggregates", () => {
    it("are loaded as they were created, actors in the order run, jobs, steps", async () => {
      const aggregate = sampleAggregate({ plan: planOf([[{ steps: 2 }, { steps: 1 }]]) });
      expect(await open().aggregates.create(aggregate)).to.equal("created");
      const loaded = (await open().aggregates.load(aggregate.head.rootId))!;
      expect(loaded.head).to.deep.equal(aggregate.head);
      expect(loaded.actors.map(({ kind }) => kind)).to.deep.equal(["run", "job", "job", "step", "step", "step"]);
      expect([...loaded.actors].toSorted((a, b) => (a.id < b.id ? -1 : 1))).to.deep.equal(
        [...aggregate.actors].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      );
      expect(await open().aggregates.loadHead(aggregate.head.rootId)).to.deep.equal(aggregate.head);
      expect(await open().aggregates.load(asId<RunId>("run_NONE"))).to.equal(undefined);
    });

    it("are loaded in part, all from one snapshot", async () => {
      const aggregate = sampleAggregate({ plan: planOf([[{ steps: 2 }]]) });
      const { rootId } = aggregate.head;
      await open().aggregates.create(aggregate);
      const step = withIndex(actorOf(aggregate, "step"), { status: "queued" }, { changed: true });
      const save = saveOf(aggregate, { owed: [OWED], eventNumber: 3 }, [step]);
      await open().aggregates.save(save);
      const { id } = aggregate.actors.find(({ kind }) => kind === "job")!;
      const loaded = (await open().aggregates.loadActors(rootId, [step.id, "step_NONE", id]))!;
      expect(loaded.head).to.deep.equal(save.head);
      expect(loaded.actors).to.deep.equal([step, aggregate.actors.find((actor) => actor.id === id)]);
      expect((await open().aggregates.loadActors(rootId, []))!.head).to.deep.equal(save.head);
      expect((await open().aggregates.loadActors(rootId, ["step_NONE"]))!.actors).to.deep.equal([]);
      expect(await open().aggregates.loadActors(asId<RunId>("run_NONE"), [step.id])).to.equal(undefined);
      const other = sampleAggregate();
      await open().aggregates.create(other);
      expect((await open().aggregates.loadActors(other.head.rootId, [step.id]))!.actors).to.deep.equal([]);
    });

    it("are created once: a repeat answers `exists`", async () => {
      const aggregate = sampleAggregate();
      await open().aggregates.create(aggregate);
      const again = { ...aggregate, head: { ...aggregate.head, shard: 9 } };
      expect(await open().aggregates.create(again)).to.equal("exists");
      expect((await open().aggregates.loadHead(aggregate.head.rootId))!.shard).to.equal(0);
    });

    it("are created by exactly one of many concurrent calls", async () => {
      const aggregate = sampleAggregate();
      const racers = Array.from({ length: 20 }, (_, shard) => ({ ...aggregate, head: { ...aggregate.head, shard } }));
      const outcomes = await Promise.all(racers.map((racer) => open().aggregates.create(racer)));
      expect(outcomes.filter((outcome) => outcome === "created")).to.have.length(1);
      const winner = outcomes.indexOf("created");
      expect((await open().aggregates.load(aggregate.head.rootId))!.head.shard).to.equal(winner);
    });

    it("are saved with their events; a save that conflicts stores no events", async () => {
      const aggregate = sampleAggregate();
      const { rootId, summary } = aggregate.head;
      await open().aggregates.create(aggregate);
      const eventOf = (status: string): RunEvent => ({
        runId: rootId,
        pipelineId: summary.pipelineId,
        number: 1,
        timeMs: 5,
        object: "pipeline",
        lifecycle: "started",
        jobId: null,
        stepRunId: null,
        status,
        data: {},
      });
      const save = saveOf(aggregate, { eventNumber: 1 });
      expect(await open().aggregates.save({ ...save, events: [eventOf("running")] })).to.equal("saved");
      expect(await open().aggregates.save({ ...save, events: [eventOf("late")] })).to.equal("versionConflict");
      expect(await open().events.read(rootId, 0, 10)).to.deep.equal([eventOf("running")]);
    });

    it("keep names that users chose with dots, with dollar signs, and empty", async () => {
      const variables = [
        ["a.b.c", "1"],
        ["$set", "2"],
        ["", "3"],
        ["naïve ☃ \u0000 key", "4"],
        ["__proto__", "5"],
      ] as const;
      const aggregate = sampleAggregate({ variables });
      await open().aggregates.create(aggregate);
      await open().aggregates.save(saveOf(aggregate));
      const loaded = (await open().aggregates.load(aggregate.head.rootId))!;
      expect(loaded.head.origin.variables).to.deep.equal(variables);
    });

    it("are saved only on top of the version that the turn was decided on", async () => {
      const aggregate = sampleAggregate();
      await open().aggregates.create(aggregate);
      const job = withIndex(actorOf(aggregate, "job"), { status: "queued" }, { changed: true });
      const save = saveOf(aggregate, { owed: [OWED], nextDueAt: 77, eventNumber: 3 }, [job]);
      expect(await open().aggregates.save(save)).to.equal("saved");
      expect(await open().aggregates.save(save)).to.equal("versionConflict");
      const loaded = (await open().aggregates.load(aggregate.head.rootId))!;
      expect(loaded.head).to.deep.equal(save.head);
      expect(loaded.actors.find(({ id }) => id === job.id)).to.deep.equal(job);
      expect(loaded.actors).to.have.length(aggregate.actors.length);
    });

    it("get new actors with a save", async () => {
      const aggregate = sampleAggregate();
      await open().aggregates.create(aggregate);
      const retry = { ...withIndex(actorOf(aggregate, "job"), { attempt: 2 }), id: "job_RETRY" };
      await open().aggregates.save(saveOf(aggregate, {}, [retry]));
      const { actors } = (await open().aggregates.load(aggregate.head.rootId))!;
      expect(actors.filter(({ kind }) => kind === "job").map(({ index }) => index.attempt)).to.deep.equal([1, 2]);
    });

    it("accept exactly one of many concurrent saves of each version", async () => {
      const aggregate = sampleAggregate();
      await open().aggregates.create(aggregate);
      let { head } = aggregate;
      for (let round = 0; round < 10; round++) {
        const racers = Array.from({ length: 100 }, (_, racer) => saveOf({ head }, { eventNumber: racer }));
        const outcomes = await Promise.all(racers.map((save) => open().aggregates.save(save)));
        const winners = outcomes.flatMap((outcome, racer) => (outcome === "saved" ? [racer] : []));
        expect(winners).to.have.length(1);
        head = (await open().aggregates.loadHead(aggregate.head.rootId))!;
        expect(head).to.include({ version: round + 2, eventNumber: winners[0] });
      }
    });

    it("hold runs of 5,000 steps", async () => {
      const plan = planOf([Array.from({ length: 50 }, () => ({ steps: 100 }))]);
      const aggregate = sampleAggregate({ plan });
      const { rootId, summary } = aggregate.head;
      const events = Array.from({ length: 5_001 }, (_, at): RunEvent => ({
        runId: rootId,
        pipelineId: summary.pipelineId,
        number: at + 1,
        timeMs: 5,
        object: "pipeline",
        lifecycle: "created",
        jobId: null,
        stepRunId: null,
        status: "pending",
        data: {},
      }));
      const beside = { plan: { graph: plan, jobs: jobSpecsOf(plan) }, events };
      expect(await open().aggregates.create(aggregate, beside)).to.equal("created");
      expect(await open().aggregates.create(aggregate, beside)).to.equal("exists");
      expect(await open().events.read(rootId, 0, 10_000)).to.have.length(5_001);
      expect(await open().plans.loadPlan(rootId)).to.deep.equal(plan);
      expect(await open().plans.loadJob(rootId, 49)).to.deep.equal(beside.plan.jobs[49]);
      const changed = [0, 1, 2].map((position) => withIndex(actorOf(aggregate, "job", position), { status: "queued" }));
      expect(await open().aggregates.save(saveOf(aggregate, {}, changed))).to.equal("saved");
      const loaded = (await open().aggregates.load(aggregate.head.rootId))!;
      expect(loaded.actors).to.have.length(5_051);
      expect(loaded.actors.filter(({ index }) => index.status === "queued")).to.have.length(3);
    }).timeout(60_000);

    it("are paged by owed effects, by due timers and by not being settled", async () => {
      const shard = 5;
      const owing: RunId[] = [];
      const bound: RunId[] = [];
      const loose: RunId[] = [];
      const due: RunId[] = [];
      for (let at = 0; at < 25; at++) {
        const aggregate = sampleAggregate({ shard });
        const { rootId, summary } = aggregate.head;
        await open().aggregates.create(aggregate);
        const settled = at % 5 === 0;
        const owes = at % 2 === 0;
        const isBound = at % 3 === 0;
        await open().aggregates.save(
          saveOf(aggregate, {
            owed: owes ? [OWED] : [],
            nextDueAt: at < 10 ? 1_000 - at : null,
            final: settled,
            settled,
            summary: { ...summary, bound: isBound },
          }),
        );
        if (owes) owing.push(rootId);
        if (!settled) (isBound ? bound : loose).push(rootId);
        if (at < 10) due.unshift(rootId);
      }
      const { aggregates } = open();
      expect(await allPages((after) => aggregates.pageOwing(shard, after, 4))).to.deep.equal(byText(owing));
      expect(await allPages((after) => aggregates.pageUnsettled(shard, true, after, 4))).to.deep.equal(byText(bound));
      expect(await allPages((after) => aggregates.pageUnsettled(shard, false, after, 4))).to.deep.equal(byText(loose));
      const dueIds = async (at: number, limit: number): Promise<readonly string[]> =>
        (await aggregates.pageDue(shard, at, null, limit)).map(({ rootId }) => rootId);
      expect(await dueIds(1_000, 100)).to.deep.equal(due);
      expect(await dueIds(995, 100)).to.deep.equal(due.slice(0, 5));
      expect(await dueIds(1_000, 3)).to.deep.equal(due.slice(0, 3));
      expect(await aggregates.pageOwing(shard + 1, "", 10)).to.deep.equal([]);
    });

    it("are paged by the time of their timers, also when many have the same time", async () => {
      const shard = 8;
      const expected: DueAggregate[] = [];
      for (const nextDueAt of [0, 7, 7, 7, 7, 7, 9, 9, 12]) {
        const aggregate = sampleAggregate({ shard });
        const { rootId } = aggregate.head;
        await open().aggregates.create({ ...aggregate, head: { ...aggregate.head, nextDueAt } });
        if (nextDueAt <= 9) expected.push({ rootId, nextDueAt });
      }
      expected.sort((a, b) => a.nextDueAt - b.nextDueAt || (a.rootId < b.rootId ? -1 : 1));
      const found: DueAggregate[] = [];
      for (;;) {
        const page = await open().aggregates.pageDue(shard, 9, found.at(-1) ?? null, 3);
        found.push(...page);
        if (page.length < 3) break;
      }
      expect(found).to.deep.equal(expected);
    });

    it("list the jobs and steps that an agent holds, until it no longer holds them", async () => {
      const agentId = newId("agt");
      const aggregate = sampleAggregate({ shard: 6 });
      await open().aggregates.create(aggregate);
      const [job, step] = [actorOf(aggregate, "job"), actorOf(aggregate, "step")];
      const held = [withIndex(job, { agentId, status: "running" }), withIndex(step, { agentId, status: "queued" })];
      const taken = saveOf(aggregate, {}, held);
      await open().aggregates.save(taken);
      const { aggregates } = open();
      expect((await aggregates.jobsHeldBy(agentId)).map(({ jobId }) => jobId)).to.deep.equal([job.id]);
      const second = sampleAggregate({ shard: 7 });
      await open().aggregates.create(second);
      const other = withIndex(actorOf(second, "job"), { agentId, status: "running" });
      await aggregates.save(saveOf(second, {}, [other]));
      expect(await aggregates.jobsHeldBy(agentId)).to.have.length(2);
      expect(await aggregates.jobsHeldBy(agentId, 1)).to.have.length(1);
      await aggregates.save(saveOf(saveOf(second, {}, [other]), {}, [withIndex(other, { agentId: null })]));
      const [location] = await aggregates.stepsHeldBy(agentId);
      expect(location).to.deep.equal({
        runId: aggregate.head.rootId,
        jobId: job.id,
        stepRunId: step.id,
        actor: held[1],
      });
      expect(await aggregates.findStep(asId<StepRunId>(step.id))).to.deep.equal(location);
      expect((await aggregates.findJob(asId<JobRunId>(job.id)))!.actor).to.deep.equal(held[0]);
      expect(await aggregates.findJob(asId<JobRunId>(step.id))).to.equal(undefined);
      expect((await aggregates.pageBoundJobs(6, "", 10)).map(({ jobId }) => jobId)).to.deep.equal([job.id]);
      expect(await aggregates.pageBoundJobs(6, job.id, 10)).to.deep.equal([]);
      await aggregates.save(
        saveOf(
          taken,
          {},
          held.map((actor) => withIndex(actor, { agentId: null })),
        ),
      );
      expect(await aggregates.jobsHeldBy(agentId)).to.deep.equal([]);
      expect(await aggregates.stepsHeldBy(asId<AgentId>("agt_NOBODY"))).to.deep.equal([]);
    });

    it("are paged by the jobs that are bound to an agent", async () => {
      const [shard, agentId] = [8, newId("agt")];
      const bound: string[] = [];
      for (let at = 0; at < 3; at++) {
        const aggregate = sampleAggregate({ shard, plan: planOf([[{}, {}, {}, {}]]) });
        await open().aggregates.create(aggregate);
        const jobs = [0, 2, 3].map((position) => withIndex(actorOf(aggregate, "job", position), { agentId }));
        await open().aggregates.save(saveOf(aggregate, {}, jobs));
        bound.push(...jobs.map(({ id }) => id));
      }
      const page = async (after: string): Promise<readonly string[]> =>
        (await open().aggregates.pageBoundJobs(shard, after, 2)).map(({ jobId }) => jobId);
      expect(await allPages(page)).to.deep.equal(byText(bound));
    });

    it("are paged by the jobs that are queued", async () => {
      const shard = 9;
      const queued: string[] = [];
      for (let at = 0; at < 3; at++) {
        const aggregate = sampleAggregate({ shard, plan: planOf([[{}, {}, {}, {}]]) });
        await open().aggregates.create(aggregate);
        const jobs = [0, 1, 3].map((position) => withIndex(actorOf(aggregate, "job", position), { status: "queued" }));
        const save = saveOf(aggregate, {}, [...jobs, withIndex(actorOf(aggregate, "step"), { status: "queued" })]);
        await open().aggregates.save(save);
        const [taken, ...left] = jobs;
        await open().aggregates.save(saveOf(save, {}, [withIndex(taken!, { status: "running" })]));
        queued.push(...left.map(({ id }) => id));
      }
      const page = async (after: string): Promise<readonly string[]> =>
        (await open().aggregates.pageQueuedJobs(shard, after, 2)).map(({ jobId }) => jobId);
      expect(await allPages(page)).to.deep.equal(byText(queued));
      expect(await open().aggregates.pageQueuedJobs(shard + 1, "", 10)).to.deep.equal([]);
    });

    it("show in lists what they wait for, until they no longer wait", async () => {
      const aggregate = sampleAggregate({ pipelineId: newId("pl") });
      const { pipelineId } = aggregate.head.summary;
      await open().aggregates.create(aggregate);
      const listed = async () => {
        const { list } = await open().aggregates.listRuns({ pipelineId }, { page: 1, pageSize: 1, descending: true });
        return list[0]!.summary.waits;
      };
      expect(await listed()).to.equal(null);
      const selector = {
        matchLabels: [["a.b", "$set"]] as const,
        matchExpressions: [{ key: "$gpu", operator: "In" as const, values: ["x.y"] }],
      };
      const waits = { reason: "agent", selector } as const;
      const waiting = saveOf(aggregate, { summary: { ...aggregate.head.summary, waits } });
      await open().aggregates.save(waiting);
      expect(await listed()).to.deep.equal(waits);
      await open().aggregates.save(saveOf(waiting, { summary: aggregate.head.summary }));
      expect(await listed()).to.equal(null);
    });

    it("are listed by time with a total, filtered by pipeline and status", async () => {
      const pipelineId = newId("pl");
      const made = [];
      for (let at = 0; at < 7; at++) {
        const aggregate = sampleAggregate({ pipelineId, now: 1_000 + at });
        await open().aggregates.create(aggregate);
        made.push(aggregate);
      }
      const { aggregates } = open();
      const first = made[0]!;
      await aggregates.save(
        saveOf(first, { final: true, summary: { ...first.head.summary, status: "success", endedAt: 5 } }),
      );
      const request = { page: 2, pageSize: 3, descending: true };
      const page = await aggregates.listRuns({ pipelineId }, request);
      expect(page.total).to.equal(7);
      expect(page.list.map(({ summary }) => summary.createdAt)).to.deep.equal([1_003, 1_002, 1_001]);
      const succeeded = await aggregates.listRuns({ pipelineId, status: "success" }, { ...request, page: 1 });
      expect(succeeded.list.map(({ rootId }) => rootId)).to.deep.equal([first.head.rootId]);
      const newest = await aggregates.newestRuns([pipelineId, newId("pl")], 2);
      expect([...newest].map(([id, heads]) => [id, heads.map(({ rootId }) => rootId)])).to.deep.equal([
        [pipelineId, [made.at(-1)!.head.rootId, made.at(-2)!.head.rootId]],
      ]);
      expect(await aggregates.liveRuns(pipelineId, 100)).to.deep.equal(made.slice(1).map(({ head }) => head.rootId));
    });

    it("are listed from a place on in both directions, also those of the same time", async () => {
      const pipelineId = newId("pl");
      const { aggregates } = open();
      for (let at = 0; at < 9; at++) {
        await aggregates.create(sampleAggregate({ pipelineId, now: 1_000 + Math.floor(at / 3) }));
      }
      for (const filter of [{ pipelineId }, { pipelineId, status: "pending" } as const]) {
        for (const descending of [true, false]) {
          const all = (await aggregates.listRuns(filter, { page: 1, pageSize: 100, descending })).list;
          expect(all).to.have.length(9);
          const read = [];
          for (let after: { at: number; id: string } | undefined; ;) {
            const page = await aggregates.listRuns(filter, { page: 1, pageSize: 2, descending, after });
            expect([page.total, page.totalIsExact]).to.deep.equal([9, true]);
            if (page.list.length === 0) break;
            read.push(...page.list);
            const { summary, rootId } = page.list.at(-1)!;
            after = { at: summary.createdAt, id: rootId };
          }
          expect(read).to.deep.equal(all);
        }
      }
    });

    it("list approvals by the time of request, filtered by status, pipeline and project", async () => {
      const [one, other] = [newId("pl"), newId("pl")];
      const projectId = newId("prj");
      const { aggregates } = open();
      const stored = [];
      for (let at = 0; at < 5; at++) {
        const aggregate = sampleAggregate({ pipelineId: at < 4 ? one : other, plan: { ...planOf([[{}]]), projectId } });
        await aggregates.create(aggregate);
        // Two of them are requested at the same time.
        const approval = sampleApproval(aggregate, { stage: 0 }, 1_000 + Math.floor(at / 2));
        const save = saveOf(aggregate, {}, [approval]);
        await aggregates.save(save);
        stored.push({ runId: aggregate.head.rootId, approval, save });
      }
      const byTime = stored.map(({ runId, approval }) => ({ runId, actor: approval }));
      const ordered = byTime.toSorted(
        (a, b) =>
          a.actor.index.approval!.requestedAt - b.actor.index.approval!.requestedAt ||
          (a.actor.id < b.actor.id ? -1 : 1),
      );
      const pageOf = (page: number, descending: boolean) =>
        aggregates.listApprovals({ status: "pending", projectId }, { page, pageSize: 2, descending });
      expect(await pageOf(1, false)).to.deep.equal({ list: ordered.slice(0, 2), total: 5 });
      expect(await pageOf(3, false)).to.deep.equal({ list: ordered.slice(4), total: 5 });
      expect((await pageOf(1, true)).list).to.deep.equal(ordered.toReversed().slice(0, 2));
      const all = { page: 1, pageSize: 100, descending: false };
      expect((await aggregates.listApprovals({ status: "pending", pipelineId: other }, all)).list).to.deep.equal(
        byTime.slice(4),
      );

      const { runId, save, approval } = stored[1]!;
      const approved = sampleApproval(save, { stage: 0 }, 1_000, {
        state: "approved",
        endedAt: 1_005,
        expiryTimer: null,
      });
      await aggregates.save(saveOf(save, {}, [approved]));
      const found = await aggregates.listApprovals({ status: "approved", pipelineId: one, projectId }, all);
      expect(found).to.deep.equal({ list: [{ runId, actor: approved }], total: 1 });
      expect((await aggregates.listApprovals({ status: "pending", projectId }, all)).total).to.equal(4);
      const loaded = (await aggregates.load(runId))!.actors;
      expect(loaded.filter(({ kind }) => kind === "approval")).to.deep.equal([approved]);
      expect(approved.id).to.equal(approval.id);
      expect((await aggregates.listApprovals({ status: "pending", projectId: newId("prj") }, all)).list).to.deep.equal(
        [],
      );
    });
  });
}
