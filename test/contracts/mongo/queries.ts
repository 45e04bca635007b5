/**
 * Every kind of query that the store on MongoDB sends stands in queries.json with the index that it reads. A query that no index
 * serves is listed in unindexed.ts. With MONGODB_TEST_URL, which names a real server, the server says it of each query.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { Db, Document } from "mongodb";
import type { Asked } from "../../support/mongo-commands.ts";
import { newId } from "../../../src/domain/ids.ts";
import { openMongoStores } from "../../../src/stores/mongo/open.ts";
import { repairRestored } from "../../../src/stores/mongo/repair.ts";
import { freshDatabase } from "../../support/mongo.ts";
import { stagesOf } from "../../support/mongo-plans.ts";
import { actorOf, lines, sampleAggregate } from "../samples.ts";
import type { QueryWatch, SeenQuery } from "./query-watch.ts";
import { reasonFor, UNINDEXED } from "./unindexed.ts";

const FILE = new URL("queries.json", import.meta.url);

/** The index of each query, by collection. */
type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** `watch`: of all contracts before this one. */
export function mongoQueriesContract(
  given: () => { readonly watch: QueryWatch; readonly database: Db; readonly url: string },
): void {
  describe("the queries of all contracts", () => {
    before(() => repairOne(given().url));

    it("are in the table with their indexes (else run this file with WRITE_QUERIES=1, and read what it changes)", () => {
      const seen = given().watch.seen();
      if (process.env["WRITE_QUERIES"] === "1") writeFileSync(FILE, `${JSON.stringify(tableOf(seen), null, 2)}\n`);
      const table = JSON.parse(readFileSync(FILE, "utf8")) as Table;
      // What calls send that meet by chance is seen in some runs only; it asks for ids.
      const others = seen.filter(
        ({ collection, text, service }) =>
          table[collection]?.[text] !== service.reads && (table[collection]?.[text] !== undefined || !isById(text)),
      );
      expect(tableOf(others)).to.deep.equal({});
    });

    it("each have an index that leads to their documents in their order, or a reason to have none", () => {
      const lacking = given()
        .watch.seen()
        .filter(({ service }) => service.lacks !== null);
      const unlisted = lacking.filter(({ collection, text }) => reasonFor(collection, text) === undefined);
      expect(
        unlisted.map(({ collection, text, service }) => `${collection} ${text} lacks ${service.lacks}`),
      ).to.deep.equal([]);
      const isLacking = (collection: string, query: string): boolean =>
        lacking.some((one) => one.collection === collection && one.text === query);
      expect(UNINDEXED.filter(({ collection, query }) => !isLacking(collection, query))).to.deep.equal([]);
    });

    if (process.env["MONGODB_TEST_URL"] === undefined) return;
    it("are read from their indexes by the real server", async function () {
      this.timeout(300_000);
      const { watch, database } = given();
      for (const { collection, text, service, sample } of watch.seen()) {
        if (service.lacks === "an index") continue;
        const plans = stagesOf(await explained(database, collection, sample));
        const isIndexed = plans.some(
          (stages) => !stages.includes("COLLSCAN") && (service.lacks !== null || !stages.includes("SORT")),
        );
        expect(isIndexed, `${collection} ${text}: ${JSON.stringify(plans)}`).to.equal(true);
      }
    });
  });
}

/** Sends the queries of a repair as well, which no contract has: SQLite needs none. */
async function repairOne(url: string): Promise<void> {
  const options = { url, database: freshDatabase() };
  const stores = await openMongoStores(options);
  try {
    const run = sampleAggregate();
    await stores.aggregates.create(run);
    const stepRunId = actorOf(run, "step").id as never;
    await stores.logs.append({ stepRunId, agentId: newId("agt"), lines: lines(1, 1) });
    expect((await repairRestored(options)).removed.logs).to.equal(1);
  } finally {
    await stores.close();
  }
}

/** True when each alternative of the query names ids. */
function isById(text: string): boolean {
  return text.split(" | ").every((branch) => branch.split(" ").includes("_id="));
}

function tableOf(seen: readonly SeenQuery[]): Table {
  const table: Record<string, Record<string, string>> = {};
  for (const { collection, text, service } of seen) (table[collection] ??= {})[text] = service.reads;
  return table;
}

/** How the server finds the documents; a write finds them as a read does. */
async function explained(database: Db, collection: string, { filter, sort, hint }: Asked): Promise<Document> {
  const find = { find: collection, filter, sort, ...(hint !== undefined && { hint }) };
  return database.command({ explain: find, verbosity: "queryPlanner" });
}
