import { expect } from "chai";
import { MongoClient } from "mongodb";
import { newId } from "../../src/domain/ids.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { storeEndedAt } from "../contracts/statistics.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";

describe("statistics on MongoDB", function () {
  this.timeout(60_000);

  it("that a killed node has added in part are added once, before the next ones", async () => {
    const { url } = await startTestMongo();
    const database = freshDatabase();
    const stores = await openMongoStores({ url, database });
    const client = new MongoClient(url);
    try {
      const db = client.db(database);
      const pipelineId = newId("pl");
      const [first, second] = [await storeEndedAt(stores, pipelineId, 1), await storeEndedAt(stores, pipelineId, 2)];
      const counters = ["one", "two"].map((job) => ({ pipelineId, job, day: 9, counters: { success: 1 } }));
      const addition = { runIds: [first], counters, failing: [] };
      // As a node leaves it that is killed between the first counter and the second.
      const underWay = { _id: "under way", addition: "a1", ...addition };
      await db.collection<{ _id: string }>("statistics_additions").insertOne(underWay);
      await db
        .collection<{ _id: string }>("statistics")
        .insertOne({ _id: `${pipelineId}/9/one`, ...counters[0]!, additions: ["a1"] } as { _id: string });
      expect(await stores.statistics.add(addition), "the same runs").to.equal(false);
      const read = async () => (await stores.statistics.read(pipelineId, 9, 9)).map((one) => one.counters);
      expect(await read()).to.deep.equal([{ success: 1 }, { success: 1 }]);
      expect(await stores.statistics.uncounted(5)).to.deep.equal([second]);
      expect(await stores.statistics.add({ ...addition, runIds: [second] })).to.equal(true);
      expect(await read()).to.deep.equal([{ success: 2 }, { success: 2 }]);
      expect(await db.collection("statistics_additions").countDocuments()).to.equal(0);
    } finally {
      await client.close();
      await stores.close();
    }
  });
});
