/** Runs near the bound of a document of MongoDB, 16 MiB, which the server of the tests does not enforce. */
import { expect } from "chai";
import { BSON, MongoClient } from "mongodb";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { StepState } from "../../actors/step/state.ts";
import type { JobState } from "../../actors/job/state.ts";
import type { AggregateHead, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { subjectOf } from "../../bench/millrace/large-definition.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import { planRun } from "../../src/planner/plan-run.ts";
import { fitted, SNAPSHOT_BYTES } from "../../src/stores/mongo/packed-snapshots.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { planOf, retryOf } from "../support/plans.ts";
import { LargeRun } from "../support/large-runs.ts";

const DOCUMENT_BYTES = 16 * 1_048_576;
const JOBS = 900;
const FAILED = 600;
const STEP = '{ uses: shell, args: { script: "true" } }';

type Raw = Omit<AggregateHead, "rootId"> & { readonly _id: string; readonly actors: Record<string, StoredActor> };

describe("a run in MongoDB whose document is near its bound", function () {
  this.timeout(120_000);
  let client: MongoClient;
  let stores: Stores;
  let run: LargeRun;
  /** What each turn since the last save has changed. */
  let changed: Map<string, StoredActor>;
  let head: AggregateHead;
  const reasons = new Map<string, string>();

  before(async () => {
    const { url } = await startTestMongo();
    const database = freshDatabase();
    client = await new MongoClient(url).connect();
    stores = await openMongoStores({ url, database });
    run = new LargeRun(planOf([Array.from({ length: JOBS }, () => ({ retry: retryOf(1) }))]));
    // As an older release has saved it: agents gave long reasons, until almost no other byte fits.
    run.claim(run.jobs("queued").slice(0, FAILED));
    run.report(run.heldSteps(), "failed");
    const room = DOCUMENT_BYTES - 20_000 - BSON.calculateObjectSize(asStored(run));
    for (const { id, state } of run.actors("step")) {
      if ((state as StepState).state === "failed") reasons.set(id, "x".repeat(Math.floor(room / FAILED)));
    }
    expect(BSON.calculateObjectSize(asStored(run))).to.be.within(DOCUMENT_BYTES - 40_000, DOCUMENT_BYTES);
    changed = new Map();
    run.onSaved = (after, actors) => {
      head = after;
      for (const actor of actors) changed.set(actor.id, actor);
    };
    await documents(database).insertOne(asStored(run));
    changed.clear();
    raw = async () => (await documents(database).findOne({ _id: run.runId }))!;
  });
  after(async () => {
    await stores?.close();
    await client?.close();
  });

  let raw: () => Promise<Raw>;
  const documents = (database: string) => client.db(database).collection<Raw>("aggregates");

  function asStored({ snapshot }: LargeRun): Raw {
    const { rootId: _id, ...fields } = { ...snapshot.head, owed: [] };
    const actors = Object.fromEntries(withReasons(snapshot.actors).map((actor) => [actor.id, actor]));
    return { ...fields, _id, owes: false, changed: [], actors } as Raw;
  }

  function withReasons(actors: readonly StoredActor[]): readonly StoredActor[] {
    return actors.map((actor) => {
      const reason = reasons.get(actor.id);
      return reason === undefined ? actor : { ...actor, state: { ...(actor.state as StepState), reason } };
    });
  }

  async function save(owed = head.owed): Promise<string> {
    const { head: stored } = (await stores.aggregates.load(run.runId))!;
    const next = { ...head, owed, version: stored.version + 1 };
    const save = { expectedVersion: stored.version, head: next, changed: [...changed.values()], events: [] };
    changed.clear();
    return stores.aggregates.save(save);
  }

  async function expectSame(owed: AggregateHead["owed"]): Promise<void> {
    expect(BSON.calculateObjectSize(await raw())).to.be.below(DOCUMENT_BYTES);
    const found = (await stores.aggregates.load(run.runId))!;
    const inOrder = (actors: readonly StoredActor[]) =>
      JSON.stringify(actors.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
    // A deep comparison of so many actors would take minutes.
    expect(inOrder(found.actors) === inOrder(withReasons(run.snapshot.actors))).to.equal(true);
    expect(JSON.stringify(found.head.owed) === JSON.stringify(owed)).to.equal(true);
  }

  it("can be stopped, although it was planned without the bound", async () => {
    run.command("stop");
    expect(head.owed.length).to.be.above(JOBS - FAILED);
    const { owed } = head;
    expect(await save()).to.equal("saved");
    expect(await save()).to.equal("saved");
    await expectSame(owed);
    expect(run.run.state).to.equal("cancelled");
  });

  it("keeps its actors through later saves, small ones too, and answers a conflict to another version", async () => {
    expect(await save([])).to.equal("saved");
    await expectSame([]);
    const { head: stored } = (await stores.aggregates.load(run.runId))!;
    const late = { expectedVersion: stored.version - 1, head: stored, changed: [], events: [] };
    expect(await stores.aggregates.save(late)).to.equal("versionConflict");
  });

  it("answers single actors of it", async () => {
    const [job] = run.jobs();
    const found = (await stores.aggregates.loadActors(run.runId, [job!.jobId, "job_none"]))!;
    expect(found.actors.map(({ state }) => (state as JobState).jobId)).to.deep.equal([job!.jobId]);
  });
});

describe("a large run in MongoDB that the planner accepts", function () {
  this.timeout(120_000);

  it("is stored with everything that its first turn owes", async () => {
    const { url } = await startTestMongo();
    const database = freshDatabase();
    const stores = await openMongoStores({ url, database });
    const client = await new MongoClient(url).connect();
    try {
      const selector = { matchLabels: [["pool", "x".repeat(16_000)] as const], matchExpressions: [] };
      const run = new LargeRun(planOf([Array.from({ length: JOBS }, () => ({ retry: retryOf(1), selector }))]));
      const { snapshot } = run;
      expect(await stores.aggregates.create(snapshot)).to.equal("created");
      const found = (await stores.aggregates.load(run.runId))!;
      expect(JSON.stringify(found.head.owed) === JSON.stringify(snapshot.head.owed)).to.equal(true);
      expect(found.actors).to.have.length(snapshot.actors.length);
      const stored = await client.db(database).collection<Raw>("aggregates").findOne({ _id: run.runId });
      expect(BSON.calculateObjectSize(stored!)).to.be.below(DOCUMENT_BYTES);
      expect(Object.keys(stored!.actors)).to.have.length(snapshot.actors.length);
    } finally {
      await client.close();
      await stores.close();
    }
  });
});

describe("a run of 5,000 jobs in MongoDB whose attempts are used up", function () {
  this.timeout(240_000);

  it("is planned, fits into its document, and can be stopped", async () => {
    const names = Array.from(
      { length: 5_000 },
      (_, at) => `{ name: j${at}, retry: { attempts: 10 }, steps: [${STEP}] }`,
    );
    const { definition } = parseDefinition(`jobs: [${names.join(", ")}]`, "yaml");
    const planned = planRun({ ...subjectOf(definition!), snapshotBytes: SNAPSHOT_BYTES });
    expect(planned.ok, JSON.stringify(planned).slice(0, 1_000)).to.equal(true);

    const run = new LargeRun(planOf([Array.from({ length: 5_000 }, () => ({ retry: retryOf(3) }))]));
    const ended = new Map<string, StoredActor>();
    run.onSaved = (_head, _changed, left) => {
      for (const actor of left) ended.set(actor.id, actor);
    };
    for (let attempt = 1; attempt < 3; attempt++) {
      run.claim(run.jobs("queued"));
      run.loseAgents(run.jobs("running"));
    }
    run.command("pause");
    run.command("resume");
    expect(ended.size).to.equal(2 * 2 * 5_000);

    const formOf = async (): Promise<{ readonly document: object; readonly isPacked: boolean }> => {
      const { head, actors } = run.snapshot;
      const { owed, ...others } = head;
      const inSnapshot = Object.fromEntries(actors.flatMap((one) => (ended.has(one.id) ? [] : [[one.id, one]])));
      const stored = await fitted({ actors: inSnapshot, owed, changed: Object.keys(inSnapshot) }, others);
      return { document: { ...others, ...stored }, isPacked: stored.packedActors !== undefined };
    };
    run.onSaved = () => {};
    for (const turn of [() => {}, () => run.command("stop")]) {
      turn();
      const { document, isPacked } = await formOf();
      expect(BSON.calculateObjectSize(document)).to.be.below(DOCUMENT_BYTES);
      expect(isPacked).to.equal(false);
    }
    expect(run.run.state).to.equal("cancelled");
  });
});
