/**
 * `npm run test:replica-set`: the store on a real replica set whose primary steps down, and whose primary's writes are
 * rolled back. Whatever was acknowledged stays, and the store is consistent.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { MongoClient } from "mongodb";
import { shardOf } from "../../queues/shard-map.ts";
import { verifyStores } from "../../src/app/verification/verify-stores.ts";
import { newId } from "../../src/domain/ids.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { Aggregate } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { actorOf, lines, sampleAggregate, saveOf } from "../contracts/samples.ts";
import { freshDatabase } from "../support/mongo.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { ReplicaSet } from "./replica-set.ts";

const SHARDS = 16;
const plan = planOf([[{ steps: 2 }]]);

describe("the store on a replica set", function () {
  this.timeout(300_000);
  let set: ReplicaSet;
  let stores: Stores;
  let database: string;
  let acknowledged: { readonly what: string; readonly holds: () => Promise<boolean> }[];

  before(async () => void (set = await ReplicaSet.fromEnvironment()));
  after(() => set?.close());
  beforeEach(async () => {
    database = freshDatabase();
    acknowledged = [];
    stores = await openMongoStores({ url: set.url, database });
  });
  afterEach(async () => {
    await stores?.close();
    const client = await MongoClient.connect(set.url);
    await client.db(database).dropDatabase();
    await client.close();
  });

  /** Creates and saves runs until `isOver`, repeats each call until it is answered, and notes the answers. */
  async function work(isOver: () => boolean): Promise<void> {
    for (let n = 0; !isOver(); n++) {
      const sample = sampleAggregate({ plan });
      const { rootId } = sample.head;
      let run: Aggregate = { ...sample, head: { ...sample.head, shard: shardOf(rootId, SHARDS) } };
      const key = { key: `${rootId} key`, bodyHash: "b", createdId: rootId, at: 1 };
      const note = (what: string, holds: () => Promise<boolean>) => acknowledged.push({ what, holds });
      const versionIs = (least: number) => async () =>
        ((await stores.aggregates.loadHead(rootId))?.version ?? 0) >= least;
      await untilAnswered(() => stores.idempotency.claim(key));
      note(`claim ${n}`, async () => (await stores.idempotency.find(key.key))?.createdId === rootId);
      await untilAnswered(() => stores.aggregates.create(run, { plan: { graph: plan, jobs: jobSpecsOf(plan) } }));
      note(`run ${n}`, versionIs(1));
      for (let turn = 0; turn < 3; turn++) {
        const save = saveOf(run, {}, [actorOf(run, "job")]);
        await untilAnswered(() => stores.aggregates.save(save));
        note(`save ${save.head.version} of run ${n}`, versionIs(save.head.version));
        run = { ...run, head: save.head };
      }
      const stepRunId = actorOf(run, "step").id as never;
      await untilAnswered(() => stores.logs.append({ stepRunId, agentId: newId("agt"), lines: lines(1, 5) }));
      note(`log ${n}`, async () => (await stores.logs.storedThrough(stepRunId)) >= 5);
    }
  }

  async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch {
        await sleep(100);
      }
    }
  }

  async function expectKept(): Promise<void> {
    const lost: string[] = [];
    for (const { what, holds } of acknowledged) if (!(await untilAnswered(holds))) lost.push(what);
    expect(lost, `of ${acknowledged.length} acknowledgements`).to.deep.equal([]);
    const { differences } = await verifyStores(stores, { shards: SHARDS });
    // A look-up whose write was cut off is repaired by the next load of its run.
    const roots = await stores.inspection.pageRoots("", 10_000);
    for (const rootId of roots) await stores.aggregates.load(rootId);
    const repaired = differences.length === 0 ? [] : (await verifyStores(stores, { shards: SHARDS })).differences;
    expect(repaired).to.deep.equal([]);
  }

  it("keeps what was acknowledged while the primary steps down", async () => {
    let over = false;
    const working = Promise.all(Array.from({ length: 4 }, () => work(() => over)));
    for (let times = 0; times < 3; times++) {
      await sleep(3_000);
      await set.stepDown();
    }
    over = true;
    await working;
    await expectKept();
  });

  it("answers no duplicate as success that is rolled back", async () => {
    const key = { key: "rolled back", bodyHash: "b", createdId: "first", at: 1 };
    let isAnswered = false;
    let repeated: Promise<unknown> = Promise.resolve();
    await set.rollBack(async () => {
      // The first call never gets its majority; the second one meets its document on the primary.
      void stores.idempotency.claim(key).catch(() => undefined);
      await sleep(1_000);
      repeated = stores.idempotency.claim({ ...key, createdId: "second" }).then(
        () => (isAnswered = true),
        () => undefined,
      );
      await sleep(5_000);
      expect(isAnswered, "while only the primary has the document").to.equal(false);
    });
    await repeated;
    const kept = await untilAnswered(() => stores.idempotency.claim({ ...key, createdId: "third" }));
    const again = await untilAnswered(() => stores.idempotency.claim({ ...key, createdId: "fourth" }));
    expect(again.createdId, "one answer for all later calls").to.equal(kept.createdId);
    await expectKept();
  });
});
