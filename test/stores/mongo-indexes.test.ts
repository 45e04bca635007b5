import { expect } from "chai";
import { MongoClient } from "mongodb";
import { asId, newId, type ProjectId } from "../../src/domain/ids.ts";
import { indexOf } from "../../src/stores/mongo/runs/find-runs.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { RunSearch } from "../../src/stores/ports/aggregates.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";

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
