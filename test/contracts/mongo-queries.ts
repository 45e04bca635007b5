/** Which queries of the store on MongoDB may read a whole collection, and that an index leads to the documents of all others. */
import { expect } from "chai";
import type { Db } from "mongodb";
import { type IndexKey, indexFor, type Query, type QueryWatch } from "../support/mongo-queries.ts";

/** Queries without an index, each with the reason why that is no harm. */
const READS_ALL: Readonly<Record<string, string>> = {
  "agents find everything": "the list of all agents, which the caller wants",
  "caches aggregate state=": "sums up all stored entries, of which each project has a bounded number, for a metric",
  "dead_letters aggregate everything": "counts the dead letters, of which 10,000 are kept",
  "dead_letters find everything": "reads the dead letters, of which 10,000 are kept",
  "plugins distinct state=": "the names of the installation's plugins, of which administrators push each",
  "projects find everything": "the pruner needs the rules of each project",
  "shards find epoch<>": "there are at most 1,024 shards",
  "tenants find body.name=": "the test server drops this index with the one of projects that has its name; MongoDB keeps it",
  "tenants find everything": "the list of all tenants, which the caller wants",
  "tokens delete body.expiresAt<>": "one look at all tokens in ten minutes",
  "users find everything": "the list of all users, which the caller wants",
};

/** `queries`: of all contracts before this one. */
export function mongoQueriesContract(given: () => { readonly queries: QueryWatch; readonly database: Db }): void {
  describe("the queries of all contracts", () => {
    it("each find an index of their collection, or are known to read all of it", async () => {
      const { queries, database } = given();
      const indexes = await indexesOf(database);
      const hasIndex = (query: Query): boolean => indexFor(query, indexes.get(query.collection) ?? []) !== undefined;
      const without = [...queries.seen].filter(([, query]) => !hasIndex(query));
      expect(queries.seen.size, "kinds of queries").to.be.above(0);
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
