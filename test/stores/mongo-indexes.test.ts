import { expect } from "chai";
import { MongoClient } from "mongodb";
import { asId, newId, type ProjectId } from "../../src/domain/ids.ts";
import { indexOf } from "../../src/stores/mongo/runs/find-runs.ts";
import { Connection } from "../../src/stores/mongo/connection.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { RunSearch } from "../../src/stores/ports/aggregates.ts";
import { SHARD_KEYS, UNSHARDED } from "../../src/stores/mongo/cluster/sharding.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { namesKey, takeUnlisted } from "../support/mongo-shard-keys.ts";

/** A unique index of ids holds for each shard alone. So each id must say, or belong without end to, the value of the key. */
const IDS_NAME_KEYS: Readonly<Record<string, string>> = {
  "blobs.chunks": "the id begins with that of the file",
  ended_attempts: "the id of an attempt belongs to one run",
  events: "the id begins with that of the run",
  inbox: "the id of a command is made for one root",
  log_chunks: "the id begins with that of the step run",
  run_images: "the id begins with that of the run",
  step_notes: "the id begins with that of the run",
  upload_uses: "the id begins with that of the upload",
};

describe("searches for runs on MongoDB", function () {
  this.timeout(60_000);

  it("name an index that exists, begins with what the search asks for, and has the order of the list", async () => {
    const { url } = await startTestMongo();
    const database = freshDatabase();
    const stores = await openMongoStores({ url, database });
    const client = new MongoClient(url);
    try {
      const indexes = await client.db(database).collection("aggregates").indexes();
      const keys = indexes.map(({ key }) => JSON.stringify(key));
      const projectIds = [asId<ProjectId>("default")];
      const searches: readonly (readonly [RunSearch, string])[] = [
        [{}, "summary.createdAt"],
        [{ from: 1, before: 2 }, "summary.createdAt"],
        [{ projectIds }, "summary.projectId"],
        [{ projectIds, statuses: ["failed"] }, "summary.projectId"],
        [{ statuses: ["failed", "running"] }, "summary.status"],
        [{ pipelineId: newId("pl") }, "summary.pipelineId"],
        [{ pipelineId: newId("pl"), statuses: ["failed"] }, "summary.pipelineId"],
        [{ triggeredBy: "ann", ref: "main" }, "origin.triggeredBy"],
        [{ ref: "main", projectIds }, "origin.trigger.ref"],
        [{ trigger: "cron" }, "origin.trigger.kind"],
      ];
      for (const [search, first] of searches) {
        const index = indexOf(search) as Record<string, 1>;
        expect(keys, JSON.stringify(search)).to.include(JSON.stringify(index));
        const fields = Object.keys(index);
        expect(fields[0]).to.equal(first);
        expect(fields.indexOf("_id")).to.equal(fields.indexOf("summary.createdAt") + 1);
      }
    } finally {
      await client.close();
      await stores.close();
    }
  });
});

describe("the collections on a sharded MongoDB", function () {
  this.timeout(60_000);

  it("have unique indexes that begin with their shard keys, and are all in one of the tables", async () => {
    const { url } = await startTestMongo();
    const database = freshDatabase();
    const stores = await openMongoStores({ url, database });
    const client = new MongoClient(url);
    try {
      for (const { name } of await client.db(database).listCollections().toArray()) {
        expect({ ...SHARD_KEYS, ...UNSHARDED }).to.include.keys(name);
      }
      for (const [name, key] of Object.entries(SHARD_KEYS)) {
        const indexes = await client
          .db(database)
          .collection(name)
          .indexes()
          .catch(() => []);
        for (const index of indexes.filter(({ unique }) => unique === true)) {
          expect(Object.keys(index.key)[0], `${name}: ${JSON.stringify(index.key)}`).to.be.oneOf(["_id", key]);
        }
      }
      // What makes the ids of the others unique on each shard: a document with the same id has the same key.
      const byOthers = Object.entries(SHARD_KEYS).flatMap(([name, key]) => (key === "_id" ? [] : [name]));
      expect(byOthers).to.have.members(Object.keys(IDS_NAME_KEYS));
    } finally {
      await client.close();
      await stores.close();
    }
  });

  it("are asked by their keys, or by queries that the list of those to all shards has", () => {
    expect(namesKey({ _id: "a" }, "_id")).to.equal(true);
    expect(namesKey({ $and: [{ shard: 1 }, { _id: { $in: ["a"] } }] }, "_id")).to.equal(true);
    expect(namesKey({ $or: [{ _id: "a" }, { shard: 1 }] }, "_id")).to.equal(false);
    expect(namesKey({ _id: { $gt: "a" } }, "_id")).to.equal(false);
    expect(namesKey({ _id: "a" }, "runId")).to.equal(false);
  });

  it("refuses a query that goes to all shards and is not listed", async () => {
    const { url } = await startTestMongo();
    const connection = await Connection.open({ url, database: freshDatabase() });
    try {
      await connection.collection("plans").findOne({ text: "x" });
      await connection.collection("plans").findOne({ _id: "x" });
      await connection.collection("job_runs").findOne({ agentId: "x" });
      await connection.collection("agents").findOne({ name: "x" });
      expect(takeUnlisted()).to.deep.equal(["plans: find by text"]);
    } finally {
      await connection.close();
    }
  });
});
