import { expect } from "chai";
import { type Collection, MongoClient } from "mongodb";
import { asId, type JobRunId, newId, type StepRunId } from "../../src/domain/ids.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { Aggregate } from "../../src/stores/ports/aggregates.ts";
import type { ArtifactRecord } from "../../src/stores/ports/artifacts.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { repairRestored } from "../../src/stores/mongo/repair.ts";
import type { StepOutputs } from "../../src/stores/ports/outputs.ts";
import { OUTPUT_BOUNDS } from "../../src/domain/outputs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { artifactRecord } from "../contracts/artifact-store.ts";
import { storeRetried } from "../contracts/ended-attempts.ts";
import { actorOf, lines, sampleAggregate, sampleApproval, saveOf, withIndex } from "../contracts/samples.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";

describe("the repair of a database that was restored from a dump", function () {
  this.timeout(60_000);
  const agentId = newId("agt");
  let options: { url: string; database: string };
  let stores: Stores;

  beforeEach(async () => {
    options = { url: (await startTestMongo()).url, database: freshDatabase() };
    stores = await openMongoStores(options);
  });
  afterEach(() => stores.close());

  const stepIdOf = (aggregate: Aggregate) => asId<StepRunId>(actorOf(aggregate, "step").id);
  const outputsOf = (aggregate: Aggregate, token: number): StepOutputs => {
    return { runId: aggregate.head.rootId, stepRunId: stepIdOf(aggregate), token, values: [["at", "x"]] };
  };
  const event = (aggregate: Aggregate, number: number) =>
    ({ runId: aggregate.head.rootId, number, name: `event ${number}` }) as unknown as RunEvent;
  const numbersOf = async (aggregate: Aggregate) =>
    (await stores.events.read(aggregate.head.rootId, 0, 100)).map(({ number }) => number);

  it("removes events with numbers that the restored run has not given yet", async () => {
    const run = sampleAggregate();
    await stores.aggregates.create(run);
    const { eventNumber } = run.head;
    await stores.events.append([1, 2, 3].map((ahead) => event(run, eventNumber + ahead)));
    await stores.aggregates.save(saveOf(run, { eventNumber: eventNumber + 1 }));
    expect((await repairRestored(options)).removed.events).to.equal(2);
    expect(await numbersOf(run)).to.deep.equal([eventNumber + 1]);
  });

  it("takes such events out of a packed record too", async () => {
    const run = sampleAggregate();
    await stores.aggregates.create(run);
    const { eventNumber } = run.head;
    const later = [1, 2, 3].map((ahead) => event(run, eventNumber + ahead));
    await stores.events.append(later, true);
    await stores.aggregates.save(saveOf(run, { eventNumber: eventNumber + 1 }));
    expect((await repairRestored(options)).removed.events).to.equal(2);
    expect(await numbersOf(run)).to.deep.equal([eventNumber + 1]);
    expect((await repairRestored(options)).removed.events).to.equal(0);
  });

  it("keeps the ended attempts of the restored run, and drops those of later attempts", async () => {
    const { run, ended, leave } = await storeRetried(stores, false);
    // The dump has read the snapshot before the attempts left it, and the ended attempts after that.
    const client = await MongoClient.connect(options.url);
    const aggregates = client.db(options.database).collection<{ _id: string }>("aggregates");
    const early = (await aggregates.findOne({ _id: run.head.rootId }))!;
    await stores.aggregates.save(leave);
    const attempts = client.db(options.database).collection("ended_attempts");
    expect(await attempts.countDocuments({ tenantId: "default", projectId: run.head.summary.projectId })).to.equal(3);
    await repairRestored(options);
    expect((await stores.aggregates.load(run.head.rootId))!.apart).to.have.members(ended.map(({ id }) => id));
    expect(await stores.aggregates.findStep(ended[1]!.id as StepRunId)).to.not.equal(undefined);
    await aggregates.replaceOne({ _id: run.head.rootId }, early);
    await repairRestored(options);
    expect(await attempts.countDocuments()).to.equal(0);
    const found = (await stores.aggregates.load(run.head.rootId))!;
    expect(found.actors).to.have.length(run.actors.length);
    expect(found.apart).to.equal(undefined);
    await client.close();
  });

  it("removes the rest of a run that was removed while the dump was made", async () => {
    const [run, removed] = [sampleAggregate(), sampleAggregate()];
    for (const created of [run, removed]) {
      await stores.aggregates.create(created);
      await stores.logs.append({ stepRunId: stepIdOf(created), agentId, lines: lines(1, 3) });
    }
    const { rootId: runId } = removed.head;
    const records = { runId, jobIds: [], stepRunIds: [], approvalIds: [] };
    await stores.removals.begin({ ...records, at: 1, isRepeat: false, succession: { key: "k", runId } });
    await stores.removals.finish(runId);
    expect((await repairRestored(options)).runs).to.equal(1);
    expect(await stores.aggregates.loadHead(runId)).to.equal(undefined);
    expect(await stores.aggregates.findStep(stepIdOf(removed))).to.equal(undefined);
    expect(await stores.logs.storedThrough(stepIdOf(removed))).to.equal(0);
    expect(await stores.aggregates.loadHead(run.head.rootId)).not.to.equal(undefined);
    expect(await stores.removals.find(runId), "no repeat of a call brings it back").not.to.equal(undefined);
  });

  it("rebuilds look-ups that were older, newer, or of a missing run", async () => {
    const run = sampleAggregate();
    const forgotten = sampleAggregate();
    await stores.aggregates.create(run);
    await stores.aggregates.create(forgotten);
    const job = withIndex(actorOf(run, "job"), { agentId, status: "running" });
    const step = withIndex(actorOf(run, "step"), { agentId, status: "running" });
    // The newest save does not change this job, so loading the run does not repair it.
    const bound = saveOf(run, {}, [job]);
    await stores.aggregates.save(bound);
    const dispatched = saveOf(bound, {}, [step, sampleApproval(run, { job: 0 }, 5)]);
    await stores.aggregates.save(dispatched);
    await withCollections(async (named) => {
      await named("job_runs").updateOne({ _id: job.id }, { $set: { agentId: null, bound: false, version: 1 } });
      await named("step_runs").updateOne({ _id: step.id }, { $set: { agentId: null, status: "success", version: 99 } });
      await named("approvals").deleteMany({});
      await named("aggregates").deleteOne({ _id: forgotten.head.rootId });
    });
    expect((await repairRestored(options)).runs).to.equal(1);
    expect((await stores.aggregates.pageBoundJobs(run.head.shard, "", 10)).map(({ jobId }) => jobId)).to.deep.equal([
      job.id,
    ]);
    expect((await stores.aggregates.stepsHeldBy(agentId)).map(({ stepRunId }) => stepRunId)).to.deep.equal([step.id]);
    expect(await stores.aggregates.findJob(asId<JobRunId>(actorOf(forgotten, "job").id))).to.equal(undefined);
    const pending = await stores.aggregates.listApprovals(
      { status: "pending" },
      { page: 1, pageSize: 10, descending: false },
    );
    expect(pending.list.map(({ runId }) => runId)).to.deep.equal([run.head.rootId]);
    await stores.aggregates.save(saveOf(dispatched, {}, [withIndex(step, { status: "success", agentId: null })]));
    expect(await stores.aggregates.stepsHeldBy(agentId), "later saves continue from there").to.deep.equal([]);
  });

  it("keeps the logs of dispatched steps only", async () => {
    const [ran, waits, forgotten] = [sampleAggregate(), sampleAggregate(), sampleAggregate()];
    for (const run of [ran, waits]) await stores.aggregates.create(run);
    await stores.aggregates.save(saveOf(ran, {}, [withIndex(actorOf(ran, "step"), { status: "running", agentId })]));
    for (const run of [ran, waits, forgotten]) {
      await stores.logs.append({ stepRunId: stepIdOf(run), agentId, lines: lines(1, 3) });
    }
    expect((await repairRestored(options)).removed.logs).to.equal(2);
    expect(await stores.logs.read(stepIdOf(ran), 1, 10)).to.deep.equal(lines(1, 3));
    for (const run of [waits, forgotten]) {
      expect(await stores.logs.read(stepIdOf(run), 1, 10)).to.deep.equal([]);
      expect(await stores.logs.storedThrough(stepIdOf(run))).to.equal(0);
    }
  });

  it("keeps the artifacts of dispatched steps only, and removes the content of the others", async () => {
    const [ran, waits] = [sampleAggregate(), sampleAggregate()];
    for (const run of [ran, waits]) await stores.aggregates.create(run);
    const step = withIndex(actorOf(ran, "step"), { agentId, status: "running" });
    await stores.aggregates.save(saveOf(ran, {}, [step]));
    const [kept, dropped] = [ran, waits].map((run) =>
      artifactRecord({ runId: run.head.rootId, stepRunId: stepIdOf(run) }),
    ) as [ArtifactRecord, ArtifactRecord];
    for (const record of [kept, dropped]) {
      await stores.artifacts.begin(record, 1_000);
      await stores.blobs.put(record.artifactId, 0, Buffer.from("content"));
    }
    expect((await repairRestored(options)).removed.artifacts).to.equal(1);
    expect(await stores.artifacts.find(kept.artifactId)).to.deep.equal(kept);
    expect(await stores.blobs.read(kept.artifactId, 0, 7)).to.have.length(7);
    expect(await stores.artifacts.find(dropped.artifactId)).to.equal(undefined);
    expect(await stores.blobs.read(dropped.artifactId, 0, 7)).to.have.length(0);
  });

  it("keeps the outputs of dispatched steps only", async () => {
    const [ran, waits, forgotten] = [sampleAggregate(), sampleAggregate(), sampleAggregate()];
    for (const run of [ran, waits]) await stores.aggregates.create(run);
    await stores.aggregates.save(saveOf(ran, {}, [withIndex(actorOf(ran, "step"), { status: "success" })]));
    const kept = [1, 2].map((token) => outputsOf(ran, token));
    const all = [...kept, ...[waits, forgotten].flatMap((run) => [1, 2].map((token) => outputsOf(run, token)))];
    for (const outputs of all) await stores.outputs.put(outputs, OUTPUT_BOUNDS.runBytes);
    expect((await repairRestored(options)).removed.outputs).to.equal(2);
    expect(await stores.outputs.find(all)).to.have.deep.members(kept);
  });

  it("keeps agent events about dispatched steps and about the agents themselves only", async () => {
    const [ran, waits] = [sampleAggregate(), sampleAggregate()];
    for (const run of [ran, waits]) await stores.aggregates.create(run);
    await stores.aggregates.save(saveOf(ran, {}, [withIndex(actorOf(ran, "step"), { status: "running", agentId })]));
    const fields = { agentId, type: "svc.step.progress", subject: "", time: 1, receivedAt: 1, data: "{}" };
    const ofStep = (run: Aggregate) => ({
      ...fields,
      eventId: run.head.rootId,
      runId: run.head.rootId,
      stepRunId: stepIdOf(run),
    });
    await stores.agentEvents.append([
      ofStep(ran),
      ofStep(waits),
      { ...fields, eventId: "own", runId: null, stepRunId: null },
    ]);
    expect((await repairRestored(options)).removed.events).to.equal(1);
    const counts = await Promise.all([ran.head.rootId, waits.head.rootId, agentId].map(stores.agentEvents.count));
    expect(counts).to.deep.equal([1, 0, 1]);
  });

  it("removes commands for missing runs, and makes owners write everything to Redis again", async () => {
    const run = sampleAggregate();
    await stores.aggregates.create(run);
    const stop = (rootId: Aggregate["head"]["rootId"]) =>
      stores.inbox.insert({ id: newId("cmd"), rootId, shard: 0, type: "stop" } as never);
    await stop(run.head.rootId);
    await stop(newId("run"));
    const known = { generation: "g", redisRunId: "r" };
    const { epoch } = await stores.shards.takeEpoch(0);
    await stores.shards.recordRedis(0, epoch, known);

    expect((await repairRestored(options)).removed.commands).to.equal(1);
    expect(await stores.inbox.pageRoots(0, "", 10)).to.deep.equal([run.head.rootId]);
    expect((await stores.shards.takeEpoch(0)).previous)
      .not.to.be.oneOf([null, undefined])
      .and.not.to.deep.equal(known);
  });

  it("finds nothing to remove the second time", async () => {
    const run = sampleAggregate();
    await stores.aggregates.create(run);
    await stores.events.append([event(run, run.head.eventNumber + 1)]);
    await stores.logs.append({ stepRunId: stepIdOf(run), agentId, lines: lines(1, 1) });
    await stores.outputs.put(outputsOf(run, 1), OUTPUT_BOUNDS.runBytes);
    const { runs, removed } = await repairRestored(options);
    expect([runs, removed]).to.deep.equal([1, { events: 1, logs: 1, outputs: 1, artifacts: 0, commands: 0 }]);
    const again = await repairRestored(options);
    expect(again).to.deep.equal({ runs: 1, removed: { events: 0, logs: 0, outputs: 0, artifacts: 0, commands: 0 } });
  });

  async function withCollections(
    body: (named: (name: string) => Collection<{ _id: string }>) => Promise<void>,
  ): Promise<void> {
    const client = await MongoClient.connect(options.url);
    try {
      await body((name) => client.db(options.database).collection(name));
    } finally {
      await client.close();
    }
  }
});
