/** The verification of a store, each check by a corruption that is written past the store's own writers. */
import { expect } from "chai";
import { type Db, MongoClient } from "mongodb";
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import { takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import { eventsOf } from "../../../actors/kernel/performer.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import { verifyStores } from "../../../src/app/verification/verify-stores.ts";
import { newId, type RunId } from "../../../src/domain/ids.ts";
import type { Aggregate } from "../../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { openMongoStores } from "../../../src/stores/mongo/open.ts";
import { actorOf, lines, sampleAggregate } from "../../contracts/samples.ts";
import { freshDatabase, startTestMongo } from "../../support/mongo.ts";
import { jobSpecsOf, planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { SqliteConnection } from "../../../src/sqlite/connection.ts";

const SHARDS = 16;
const QUICK = { shards: SHARDS, pauses: { storeMs: 1, hintMs: 1, placeMs: 1 } };

/** Stores a run whose first turn is taken: one queued job with two steps, and one that needs it. */
async function storeRun(stores: Stores): Promise<Aggregate> {
  const plan = planOf([[{ steps: 2 }, { needs: [0] }]]);
  const runId = newId("run");
  const { origin } = sampleAggregate().head;
  const now = Date.now();
  const made = createRunAggregate({ runId, shard: shardOf(runId, SHARDS), plan, origin, now });
  const first = takeFirstTurn(made, plan, now, aggregateTypeOf(runId), () => []);
  const run = { ...first, head: { ...first.head, nextDueAt: null } };
  await stores.aggregates.create(run, {
    plan: { graph: plan, jobs: jobSpecsOf(plan) },
    events: eventsOf(run.head, run.head.owed),
  });
  return run;
}

/** Saves the run once more, so that it owes nothing. */
async function settle(stores: Stores, run: Aggregate): Promise<void> {
  const head = { ...run.head, version: run.head.version + 1, owed: [] };
  const outcome = await stores.aggregates.save({ expectedVersion: run.head.version, head, changed: [], events: [] });
  expect(outcome).to.equal("saved");
}

const found = async (stores: Stores): Promise<readonly string[]> => {
  const { differences } = await verifyStores(stores, QUICK);
  return differences.map(({ kind, object, text }) => `${kind}: ${object} ${text}`);
};

describe("the verification of a store on SQLite", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let run: Aggregate;
  let id: RunId;
  let writer: SqliteConnection;
  beforeEach(async () => {
    opened = await openTestSqlite();
    run = await storeRun(opened.stores);
    await settle(opened.stores, run);
    id = run.head.rootId;
    writer = new SqliteConnection(opened.path);
  });
  afterEach(async () => {
    writer.close();
    await opened.close();
  });

  const job = () => actorOf(run, "job").id;
  const step = () => actorOf(run, "step").id;
  const expectFound = async (...expected: readonly string[]) =>
    expect(await found(opened.stores)).to.deep.equal(expected);

  it("finds nothing in a store that is whole", async () => {
    const { differences, read, skipped, more } = await verifyStores(opened.stores, QUICK);
    expect(differences).to.deep.equal([]);
    expect(read).to.include({ aggregates: 1, events: run.head.eventNumber });
    expect(read.owners).to.be.greaterThan(run.actors.length);
    expect(skipped).to.deep.equal(["offers, places and owners: Redis was not given"]);
    expect(more).to.equal(false);
  });

  it("finds a missing event, but none that the run still owes", async () => {
    const owing = await storeRun(opened.stores);
    writer.prepare("DELETE FROM events WHERE run_id = ? AND number = 1").run(owing.head.rootId);
    await expectFound();
    writer.prepare("DELETE FROM events WHERE run_id = ? AND number = 2").run(id);
    await expectFound(`events: ${id} event 2 is missing`);
  });

  it("finds a gap in a log of system events, and none where old events were removed", async () => {
    const log = newId("tnt");
    const draft = { log, object: "agent", lifecycle: "online", data: { id: "a" } } as const;
    const drafts = Array.from({ length: 5 }, (_, at) => ({ ...draft, eventId: `e${at}`, timeMs: at }));
    await opened.stores.systemEvents.append(drafts);
    await opened.stores.systemEvents.forget(log, 1, 10);
    await expectFound();
    writer.prepare("DELETE FROM system_events WHERE log = ? AND number = 3").run(log);
    await expectFound(`events: ${log} system event 3 is missing`);
  });

  it("finds an event that the run has not published", async () => {
    const next = run.head.eventNumber + 1;
    writer.prepare("INSERT INTO events VALUES (?, ?, '{}')").run(id, next);
    await expectFound(`events: ${id} event ${next} is stored, and the run has published ${next - 1}`);
  });

  it("leaves the events of a run alone that retention has removed", async () => {
    writer.prepare("DELETE FROM events WHERE run_id = ?").run(id);
    writer.prepare("UPDATE aggregates SET events_gone = 2 WHERE root_id = ?").run(id);
    await expectFound();
  });

  for (const [column, value, text] of [
    ["status", "'running'", (): string => `look-up: ${job()} has status queued, and running is stored for queries`],
    ["agent_id", "'agt_X'", (): string => `look-up: ${job()} has agentId null, and agt_X is stored for queries`],
    ["shard", "99", (): string => `look-up: ${job()} its row is in shard 99, not ${run.head.shard}`],
  ] as const) {
    it(`finds a wrong ${column} of a job`, async () => {
      writer.prepare(`UPDATE actors SET ${column} = ${value} WHERE id = ?`).run(job());
      await expectFound(text());
    });
  }

  for (const [assignment, ...texts] of [
    ["status = 'success'", "look-up: ID has status running, and lists show success"],
    ["owes = 1", "look-up: ID is stored as owing effects, and owes 0"],
    ["bound = 1", "look-up: ID is stored as bound to agents"],
    ["next_due_at = 5", "look-up: ID has its next timer at null, and 5 is stored for the sweeps"],
    ["final = 1", "snapshot: ID is stored as final, and its actor is not"],
    [
      `settled = 1, owes = 1, owed = '[{"effect":{"type":"withdraw"},"eventNumber":null,"at":1}]'`,
      "snapshot: ID is stored as settled, and is not final",
      "owed: ID is settled and owes 1 effects",
    ],
  ] as const) {
    it(`finds a head with ${assignment.slice(0, 24)}`, async () => {
      writer.prepare(`UPDATE aggregates SET ${assignment} WHERE root_id = ?`).run(id);
      const others = assignment.startsWith("final") ? finalTexts() : [];
      await expectFound(...[...texts, ...others].map((text) => text.replace("ID", id)));
    });
  }
  const finalTexts = () => {
    const unfinished = run.actors.filter(({ kind }) => kind === "job");
    return unfinished.map(({ id: jobId, index }) => `snapshot: ${jobId} is ${index.status}, and its run has ended`);
  };

  it("finds a head in a shard that its id does not belong to", async () => {
    const wrong = (run.head.shard + 1) % SHARDS;
    writer.prepare("UPDATE aggregates SET shard = ? WHERE root_id = ?").run(wrong, id);
    writer.prepare("UPDATE actors SET shard = ? WHERE root_id = ?").run(wrong, id);
    await expectFound(`shard: ${id} is stored in shard ${wrong}, and its id belongs to shard ${run.head.shard}`);
  });

  it("finds a head without actors, without its plan, and without a job of its plan", async () => {
    const [bare, planless] = [await storeRun(opened.stores), await storeRun(opened.stores)];
    writer.prepare("DELETE FROM actors WHERE root_id = ?").run(bare.head.rootId);
    writer.prepare("DELETE FROM plans WHERE run_id = ?").run(planless.head.rootId);
    const gone = actorOf(run, "job", 1).id;
    writer.prepare("DELETE FROM actors WHERE id = ? OR job_id = ?").run(gone, gone);
    await expectFound(
      `snapshot: ${id} has no job "job-1", which is job 1 of its plan`,
      `snapshot: ${bare.head.rootId} has a head and 0 actors, but not its own`,
      `snapshot: ${planless.head.rootId} has no stored plan`,
    );
  });

  it("finds a token above the newest of its job", async () => {
    const grant = JSON.stringify({ agentId: "agt_X", bootId: "b", requestId: "", token: 7 });
    writer.prepare("UPDATE actors SET state = json_set(state, '$.grant', json(?)) WHERE id = ?").run(grant, job());
    await expectFound(`snapshot: ${job()} has token 7 above its newest, 0`);
  });

  it("finds a step that has not ended with its job", async () => {
    writer
      .prepare("UPDATE actors SET status = 'success', state = json_set(state, '$.state', 'success') WHERE id = ?")
      .run(job());
    const steps = run.actors.filter(({ kind, index }) => kind === "step" && index.jobId === job());
    await expectFound(
      ...steps.map(({ id: stepId, index }) => `snapshot: ${stepId} is ${index.status}, and its job has ended`),
    );
  });

  it("finds records that belong to nothing, but not those of a run that is being removed", async () => {
    await opened.stores.logs.append({ stepRunId: step() as never, agentId: "agt_X", lines: lines(1, 3) });
    const commandId = newId("cmd");
    writer
      .prepare("INSERT INTO inbox (id, root_id, shard, body) VALUES (?, ?, ?, '{}')")
      .run(commandId, id, run.head.shard);
    await expectFound();
    writer.prepare("DELETE FROM aggregates WHERE root_id = ?").run(id);
    const orphans = await found(opened.stores);
    expect(orphans).to.include.members([
      `orphan: ${id} has events in the store, and does not exist`,
      `orphan: ${id} has commands in the store, and does not exist`,
      `orphan: ${job()} of ${id} has a look-up in the store, and does not exist`,
    ]);
    writer.prepare("DELETE FROM actors WHERE root_id = ?").run(id);
    expect(await found(opened.stores)).to.include(`orphan: ${step()} has log lines in the store, and does not exist`);
    const records = { runId: id, jobIds: [], stepRunIds: [step()] as never[], approvalIds: [] };
    const succession = { key: "key", runId: id };
    await opened.stores.removals.begin({ ...records, at: 1, isRepeat: false, succession });
    await expectFound();
  });

  it("does not report what the second look shows to be gone", async () => {
    writer.prepare("UPDATE actors SET status = 'running' WHERE id = ?").run(job());
    const { inspection } = opened.stores;
    const read: typeof inspection.read = async (rootId) => {
      const seen = await inspection.read(rootId);
      writer.prepare("UPDATE actors SET status = 'queued' WHERE id = ?").run(job());
      return seen;
    };
    const verifying = verifyStores({ ...opened.stores, inspection: { ...inspection, read } }, QUICK);
    expect((await verifying).differences).to.deep.equal([]);
  });

  it("writes nothing", async () => {
    const content = () => writer.prepare("PRAGMA data_version").get();
    const before = content();
    writer.prepare("UPDATE actors SET status = 'running' WHERE id = ?").run(job());
    await found(opened.stores);
    expect(content()).to.deep.equal(before);
  });
});

describe("the verification of a store on MongoDB", function () {
  this.timeout(60_000);
  let client: MongoClient;
  let db: Db;
  let stores: Stores;
  let run: Aggregate;
  before(async () => {
    const { url } = await startTestMongo();
    client = await MongoClient.connect(url);
    const database = freshDatabase();
    db = client.db(database);
    stores = await openMongoStores({ url, database });
  });
  beforeEach(async () => {
    for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
      if (name !== "settings") await db.collection(name).deleteMany({});
    }
    run = await storeRun(stores);
    await settle(stores, run);
  });
  after(async () => {
    await stores?.close();
    await client?.close();
  });

  const rows = (name: string) => db.collection<{ _id: string; [field: string]: unknown }>(name);
  const job = () => actorOf(run, "job").id;

  it("finds nothing in a store that is whole", async () => {
    const { differences, read } = await verifyStores(stores, QUICK);
    expect(differences).to.deep.equal([]);
    expect(read).to.include({ aggregates: 1, events: run.head.eventNumber });
  });

  it("finds look-ups that are missing, wrong, too new or of nothing, and repairs none of them", async () => {
    await rows("job_runs").deleteOne({ _id: job() });
    const step = actorOf(run, "step", 0).id;
    await rows("step_runs").updateOne({ _id: step }, { $set: { status: "success", version: 99 } });
    await rows("approvals").insertOne({ _id: "apr_X", rootId: run.head.rootId, shard: 0, version: 1, state: {} });
    const expected = [
      `look-up: ${job()} cannot be found: its row is missing`,
      `look-up: ${step} its row is of version 99, and the snapshot of 2`,
      `look-up: ${step} its row has success, and the snapshot pending`,
      `orphan: apr_X of ${run.head.rootId} has a look-up in the store, and does not exist`,
    ];
    expect(await found(stores)).to.have.members(expected);
    expect(await found(stores), "the second time, too").to.have.members(expected);
  });

  it("finds a row whose state is not that of the snapshot", async () => {
    await rows("job_runs").updateOne({ _id: job() }, { $set: { "state.reason": "cancelled" } });
    expect(await found(stores)).to.deep.equal([`look-up: ${job()} the state in its row is not that of the snapshot`]);
  });

  it("finds missing events and records that belong to nothing", async () => {
    await db.collection("events").deleteOne({ runId: run.head.rootId, number: 1 });
    expect(await found(stores)).to.deep.equal([`events: ${run.head.rootId} event 1 is missing`]);
    const step = actorOf(run, "step").id;
    await stores.outputs.put({ runId: run.head.rootId, stepRunId: step as never, token: 1, values: [] }, 1_000);
    await rows("aggregates").deleteOne({ _id: run.head.rootId });
    expect(await found(stores)).to.include.members([
      `orphan: ${run.head.rootId} has events in the store, and does not exist`,
      `orphan: ${step} of ${run.head.rootId} has outputs in the store, and does not exist`,
    ]);
  });
});
