/** Which queries of the store on MongoDB may read a whole collection, and that an index leads to the documents of all others. */
import { expect } from "chai";
import type { Db } from "mongodb";
import { type IndexKey, indexFor, type QueryWatch } from "../support/mongo-queries.ts";

/** Queries without an index, each with the reason why that is no harm. */
const READS_ALL: Readonly<Record<string, string>> = {};

/** `queries`: of all contracts before this one. */
export function mongoQueriesContract(given: () => { readonly queries: QueryWatch; readonly database: Db }): void {
  describe("the queries of all contracts", () => {
    it("each find an index of their collection, or are known to read all of it", async () => {
      const { queries, database } = given();
      const indexes = await indexesOf(database);
      const without = [...queries.seen].filter(([, query]) => indexFor(query, indexes.get(query.collection) ?? []) === undefined);
      if (process.env["SHOW_QUERIES"] !== undefined)
        for (const [text, query] of queries.seen) console.log(text, "=>", JSON.stringify(indexFor(query, indexes.get(query.collection) ?? [])));
      expect(without.map(([text]) => text).filter((text) => READS_ALL[text] === undefined)).to.deep.equal([]);
    });
  });
}

async function indexesOf(database: Db): Promise<ReadonlyMap<string, readonly IndexKey[]>> {
  const found = new Map<string, readonly IndexKey[]>();
  for (const { name } of await database.listCollections().toArray()) {
    const indexes = await database.collection(name).indexes();
    found.set(name, indexes.map(({ key }) => Object.keys(key as object)));
  }
  return found;
}
