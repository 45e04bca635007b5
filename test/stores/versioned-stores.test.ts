import { expect } from "chai";
import type { JobState } from "../../actors/job/state.ts";
import type { RunState } from "../../actors/run/state.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";
import type { Aggregate, AggregateStore } from "../../src/stores/ports/aggregates.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { APART_SCHEMA, NewerSchemaError, STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { versionedAggregates, versionedPlans } from "../../src/stores/format/versioned-stores.ts";
import { actorOf, sampleAggregate, sampleApproval, saveOf, withIndex } from "../contracts/samples.ts";
import { NEXT_FORMAT } from "../support/next-format.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { LargeRun } from "../support/large-runs.ts";
import { jobSpecsOf, planOf, retryOf } from "../support/plans.ts";
import { openTestSqlite } from "../support/stores.ts";

const AGENT = asId<AgentId>("agt_A");
const OWED = [
  { effect: { type: "acknowledge", agentId: AGENT, stepRunId: "step_1", token: 1 }, eventNumber: null, at: 5 },
] as never;

async function openTestMongo(): Promise<{ stores: Stores; close(): Promise<void> }> {
  const { url } = await startTestMongo();
  const stores = await openMongoStores({ url, database: freshDatabase() });
  return { stores, close: () => stores.close() };
}

const TODAY = STORED_FORMAT.schema;

for (const [engine, open] of [
  ["SQLite", openTestSqlite],
  ["MongoDB", openTestMongo],
] as const) {
  describe(`stores of two releases on one ${engine}`, function () {
    this.timeout(60_000);
    let raw: Stores;
    let close: () => Promise<void>;
    /** The store of a node that reads today's schema and older ones. */
    let old: AggregateStore;
    /** The store of a node that also reads the next schema, and writes the schema `nextWrites`. */
    let next: AggregateStore;
    let nextWrites: number;

    before(async () => {
      const opened = await open();
      raw = opened.stores;
      close = () => opened.close();
      old = versionedAggregates(raw.aggregates, STORED_FORMAT, () => TODAY);
      next = versionedAggregates(raw.aggregates, NEXT_FORMAT, () => nextWrites);
    });
    beforeEach(() => (nextWrites = TODAY));
    after(() => close());

    const bound = (aggregate: Aggregate, position: number) =>
      withIndex(actorOf(aggregate, "job", position), { agentId: AGENT, status: "running" });
    const schemaOf = (state: unknown) => (state as { schema: number }).schema;
    const schemasOf = ({ head, actors }: Aggregate) => ({
      head: head.schema,
      states: [...new Set(actors.map(({ state }) => schemaOf(state)))].toSorted((a, b) => a - b),
    });
    const refusal = (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: unknown) => error,
      );

    it("read each other's data while the newer one writes the old schema", async () => {
      const aggregate = sampleAggregate({ variables: [["a", "1"]] });
      await old.create(aggregate);
      expect(await next.load(aggregate.head.rootId)).to.deep.equal(await old.load(aggregate.head.rootId));
      await next.save(saveOf(aggregate, { owed: OWED }, [bound(aggregate, 0)]));
      const found = (await old.load(aggregate.head.rootId))!;
      expect(found).to.deep.equal(await next.load(aggregate.head.rootId));
      expect(found.head.owed).to.deep.equal(OWED);
      expect(schemasOf((await raw.aggregates.load(aggregate.head.rootId))!)).to.deep.equal({
        head: TODAY,
        states: [TODAY],
      });
    });

    it("read an aggregate that a save after the switch has changed in part", async () => {
      const plan = planOf([[{}, {}]]);
      const aggregate = sampleAggregate({ plan });
      await old.create(aggregate);
      nextWrites = TODAY + 1;
      const changed = bound(aggregate, 1);
      await next.save(saveOf(aggregate, { owed: OWED }, [changed]));
      const { rootId } = aggregate.head;
      const stored = (await raw.aggregates.load(rootId))!;
      expect(schemasOf(stored)).to.deep.equal({ head: TODAY + 1, states: [TODAY, TODAY + 1] });
      expect(stored.actors.find(({ id }) => id === changed.id)!.state)
        .to.include({ phase: "pending" })
        .and.not.have.property("state");
      expect(stored.head.owed[0]).to.have.keys("promise", "eventNumber", "timeMs");

      const found = (await next.load(rootId))!;
      expect(found.head).to.deep.include({ owed: OWED, origin: aggregate.head.origin });
      expect(found.actors.map(({ state }) => state)).to.have.deep.members(aggregate.actors.map(({ state }) => state));
      expect((await next.findJob(changed.id as never))!.actor.state).to.deep.equal(changed.state);
      expect((await next.jobsHeldBy(AGENT)).at(-1)!.actor.state).to.deep.equal(changed.state);
      expect((await next.loadHead(rootId))!.owed).to.deep.equal(OWED);
    });

    it("write what older nodes need until the switch, and derive it afterwards", async () => {
      let writes = APART_SCHEMA - 1;
      const aggregates = versionedAggregates(raw.aggregates, STORED_FORMAT, () => writes);
      const plan = planOf([[{ retry: retryOf(3) }, { retry: retryOf(3) }, {}]]);
      const run = new LargeRun(plan, undefined, undefined, sampleAggregate({ plan }).head.rootId);
      for (let attempt = 1; attempt < 3; attempt++) {
        run.claim(run.jobs("queued").filter(({ index }) => index < 3 - attempt));
        run.loseAgents(run.jobs("running"));
      }
      const { head, actors } = run.snapshot;
      const attempts = run.run.attempts;
      expect(attempts).to.have.length(2);
      const storedRun = async () => {
        const found = (await raw.aggregates.load(run.runId))!;
        return found.actors.find(({ kind }) => kind === "run")!.state;
      };
      const loadedAttempts = async () => {
        const found = (await aggregates.load(run.runId))!;
        expect(await aggregates.loadInPieces(run.runId, () => Promise.resolve())).to.deep.equal(found);
        return (found.actors.find(({ kind }) => kind === "run")!.state as RunState).attempts;
      };
      await aggregates.create({ head: { ...head, version: 1 }, actors });
      expect(await storedRun()).to.deep.include({ attempts, schema: APART_SCHEMA - 1 });
      expect(await loadedAttempts()).to.deep.equal(attempts);
      expect(aggregates.keepsEndedApart).to.equal(false);

      writes = APART_SCHEMA;
      expect(aggregates.keepsEndedApart).to.equal(raw.aggregates.keepsEndedApart);
      const root = actors.filter(({ kind }) => kind === "run");
      await aggregates.save({
        expectedVersion: 1,
        head: { ...head, schema: APART_SCHEMA, version: 2 },
        changed: root,
        events: [],
      });
      expect(await storedRun())
        .to.include({ schema: APART_SCHEMA })
        .and.not.have.property("attempts");
      expect(await loadedAttempts()).to.have.deep.members([...attempts]);
    });

    it("never take an aggregate back to an older schema", async () => {
      nextWrites = TODAY + 1;
      const aggregate = sampleAggregate();
      await next.create(aggregate);
      nextWrites = TODAY;
      const found = (await next.load(aggregate.head.rootId))!;
      await next.save(saveOf(found, { owed: OWED }, [bound(found, 0)]));
      expect(schemasOf((await raw.aggregates.load(aggregate.head.rootId))!)).to.deep.equal({
        head: TODAY + 1,
        states: [TODAY + 1],
      });
    });

    it("refuse newer data in every read, except in pages of jobs, which leave it out", async () => {
      const shard = 9;
      const [first, newer, last] = [sampleAggregate({ shard }), sampleAggregate({ shard }), sampleAggregate({ shard })];
      for (const aggregate of [first, newer, last]) {
        nextWrites = aggregate === newer ? TODAY + 1 : TODAY;
        await next.create(aggregate);
        await next.save(saveOf(aggregate, {}, [bound(aggregate, 0), sampleApproval(aggregate, { stage: 0 }, 1)]));
      }
      const { rootId, summary } = newer.head;
      const jobId = (actorOf(newer, "job").state as JobState).jobId;
      for (const call of [
        () => old.load(rootId),
        () => old.loadHead(rootId),
        () => old.findJob(jobId),
        () => old.findStep(actorOf(newer, "step").id as never),
        () => old.jobsHeldBy(AGENT),
        () => old.listApprovals({ status: "pending" }, { page: 1, pageSize: 100, descending: false }),
        () => old.listRuns({ pipelineId: summary.pipelineId }, { page: 1, pageSize: 100, descending: false }),
      ]) {
        expect(await refusal(call()))
          .to.be.instanceOf(NewerSchemaError)
          .with.property("message")
          .that.includes("upgrade this node");
      }
      const ids = (jobs: readonly { runId: string }[]) => jobs.map(({ runId }) => runId);
      const others = [first.head.rootId, last.head.rootId];
      expect(ids(await old.pageBoundJobs(shard, "", 2)), "a page is as full as it can be").to.have.members(others);
      expect(ids(await old.pageBoundJobs(shard, "", 10))).to.have.members(others);
      expect(ids(await next.pageBoundJobs(shard, "", 10))).to.have.members([...others, rootId]);
    });

    it("share plans and jobs", async () => {
      const plan = planOf([[{ steps: 2 }]]);
      const jobs = jobSpecsOf(plan);
      const [oldPlans, nextPlans] = [
        versionedPlans(raw.plans, STORED_FORMAT, () => TODAY),
        versionedPlans(raw.plans, NEXT_FORMAT, () => nextWrites),
      ];
      const { rootId: before } = sampleAggregate().head;
      await nextPlans.put(before, plan, jobs);
      nextWrites = TODAY + 1;
      const { rootId: after } = sampleAggregate().head;
      await nextPlans.put(after, plan, jobs);
      for (const runId of [before, after]) {
        expect(await nextPlans.loadPlan(runId)).to.deep.equal(plan);
        expect(await nextPlans.loadJob(runId, 0)).to.deep.equal(jobs[0]);
      }
      expect(await oldPlans.loadPlan(before)).to.deep.equal(plan);
      expect(await oldPlans.loadJob(before, 0)).to.deep.equal(jobs[0]);
      expect(await refusal(oldPlans.loadPlan(after))).to.be.instanceOf(NewerSchemaError);
      expect(await refusal(oldPlans.loadJob(after, 0))).to.be.instanceOf(NewerSchemaError);
      expect(await raw.plans.loadPlan(after))
        .to.include({ schema: TODAY + 1 })
        .and.have.property("graph");
    });
  });
}
