import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { MongoClient } from "mongodb";
import { MillraceError } from "../../src/domain/errors.ts";
import { asId, newId, type StepRunId } from "../../src/domain/ids.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/stores.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { openTestSqlite } from "../support/stores.ts";
import { aggregateStoreContract } from "./aggregate-store.ts";
import { recordStoresContract } from "./record-stores.ts";
import { actorOf, sampleAggregate, saveOf, withIndex } from "./samples.ts";

describe("the store on SQLite", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  before(async () => void (opened = await openTestSqlite()));
  after(() => opened.close());

  aggregateStoreContract(() => opened.stores);
  recordStoresContract(() => opened.stores);

  it("keeps everything when it is opened again, also by two at a time", async () => {
    const aggregate = sampleAggregate();
    await opened.stores.aggregates.create(aggregate);
    const other = await openSqliteStores({ path: opened.path });
    const [one, two] = await Promise.all([
      opened.stores.aggregates.save(saveOf(aggregate)),
      other.aggregates.save(saveOf(aggregate)),
    ]);
    expect([one, two].toSorted()).to.deep.equal(["saved", "versionConflict"]);
    expect((await other.aggregates.loadHead(aggregate.head.rootId))!.version).to.equal(2);
    await other.close();
  });

  it("says what is wrong with a path that cannot hold it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-path-"));
    try {
      await writeFile(join(folder, "file"), "");
      await mkdir(join(folder, "folder"));
      await writeFile(join(folder, "text"), "no database at all, and long enough to be read as one".repeat(20));
      for (const [path, words] of [
        ["file/millrace.db", "cannot be made"],
        ["folder", "is a folder"],
        ["text", "is no database of millrace"],
      ] as const) {
        const error = await openSqliteStores({ path: join(folder, path) }).catch((caught: unknown) => caught);
        expect(error, path).to.be.instanceOf(MillraceError).with.property("message").that.includes(words);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("the store on MongoDB", function () {
  this.timeout(60_000);
  const database = freshDatabase();
  let stores: Stores;
  let url: string;
  before(async () => {
    ({ url } = await startTestMongo());
    stores = await openMongoStores({ url, database });
  });
  after(() => stores?.close());

  aggregateStoreContract(() => stores);
  recordStoresContract(() => stores);

  it("brings look-ups up to a save that ended before it wrote them", async () => {
    const agentId = newId("agt");
    const aggregate = sampleAggregate();
    await stores.aggregates.create(aggregate);
    const step = withIndex(actorOf(aggregate, "step"), { agentId, status: "running" });
    const client = await MongoClient.connect(url);
    await client
      .db(database)
      .collection<{ _id: string }>("aggregates")
      .updateOne(
        { _id: aggregate.head.rootId },
        { $set: { version: 2, lastChanged: [step.id], [`actors.${step.id}`]: step } },
      );
    await client.close();
    expect(await stores.aggregates.stepsHeldBy(agentId)).to.deep.equal([]);
    await stores.aggregates.load(aggregate.head.rootId);
    expect((await stores.aggregates.stepsHeldBy(agentId)).map(({ stepRunId }) => stepRunId)).to.deep.equal([step.id]);
  });

  it("does not let the look-ups of an older save replace those of a newer one", async () => {
    const aggregate = sampleAggregate();
    await stores.aggregates.create(aggregate);
    const step = actorOf(aggregate, "step");
    const first = saveOf(aggregate, {}, [withIndex(step, { status: "queued" })]);
    const second = saveOf(first, {}, [withIndex(step, { status: "running" })]);
    await stores.aggregates.save(first);
    await stores.aggregates.save(second);
    await stores.aggregates.save(first);
    const found = await stores.aggregates.findStep(asId<StepRunId>(step.id));
    expect(found!.actor.index.status).to.equal("running");
  });

  it("says what to do when it cannot be reached", async () => {
    const error = await openMongoStores({ url: "mongodb://127.0.0.1:9" }).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property("message").that.includes("MONGODB_URL");
  });
});
