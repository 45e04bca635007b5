import { expect } from "chai";
import type { Document } from "mongodb";
import { askedBy } from "../support/mongo-commands.ts";
import { stagesOf } from "../support/mongo-plans.ts";
import { indexOf, queryOf, serviceOf, textOf } from "../support/mongo-queries.ts";

const PLACE = { runId: 1, number: -1, _id: 1 };

/** How an index serves the find: its name, the name and what it lacks, or nothing. */
function served(find: Document, ...definitions: readonly Document[]): string {
  const [asked] = askedBy("find", { find: "events", ...find });
  const { reads, lacks } = serviceOf(queryOf("events", "find", asked!), definitions.map(indexOf));
  return lacks === null ? reads : `${reads} lacks ${lacks}`.trim();
}

const byPlace = (find: Document): string => served(find, { key: PLACE });

describe("the index that serves a query of MongoDB", () => {
  it("begins with fields that are compared with values, or with a range", () => {
    expect(byPlace({ filter: { runId: "r" } })).to.equal("runId, -number, _id");
    expect(byPlace({ filter: { runId: { $in: ["r", "s"] }, other: 1 } })).to.equal("runId, -number, _id");
    expect(byPlace({ filter: { runId: { $gt: "r" } } })).to.equal("runId, -number, _id");
    expect(byPlace({ filter: { number: 1 } })).to.equal("lacks an index");
    expect(byPlace({ filter: { runId: { $ne: "r" } } })).to.equal("lacks an index");
    expect(byPlace({ filter: {} })).to.equal("lacks an index");
    expect(byPlace({ filter: { _id: "e" } })).to.equal("_id");
  });

  it("goes on with the order, from either end, behind the values alone", () => {
    expect(byPlace({ filter: { runId: "r" }, sort: { number: -1, _id: 1 } })).to.equal("runId, -number, _id");
    expect(byPlace({ filter: { runId: "r" }, sort: { number: 1, _id: -1 } })).to.equal("runId, -number, _id");
    expect(byPlace({ filter: { runId: "r", number: { $gt: 1 } }, sort: { number: 1 } })).to.equal(
      "runId, -number, _id",
    );
    expect(byPlace({ filter: { runId: "r" }, sort: { number: 1, _id: 1 } })).to.equal(
      "runId, -number, _id lacks the order",
    );
    expect(byPlace({ filter: { runId: "r" }, sort: { _id: 1 } })).to.equal("runId, -number, _id lacks the order");
    expect(byPlace({ filter: { runId: "r", number: 2 }, sort: { number: 1, _id: 1 } })).to.equal("runId, -number, _id");
    // The range comes before the order, so the server sorts what it has found.
    expect(byPlace({ filter: { runId: { $gt: "r" } }, sort: { number: -1 } })).to.equal(
      "runId, -number, _id lacks the order",
    );
  });

  it("may be read from its begin for the first documents alone", () => {
    expect(byPlace({ filter: { other: 1 }, sort: { runId: 1 }, limit: 1 })).to.equal("runId, -number, _id");
    expect(byPlace({ filter: {}, sort: { runId: 1 } })).to.equal("lacks an index");
    expect(byPlace({ filter: {}, limit: 1 })).to.equal("lacks an index");
  });

  it("serves each alternative, together with what all of them share", () => {
    const behind = { $or: [{ number: { $lt: 5 } }, { number: 5, _id: { $gt: "e" } }] };
    expect(byPlace({ filter: { runId: "r", ...behind }, sort: { number: -1, _id: 1 } })).to.equal(
      "runId, -number, _id",
    );
    expect(byPlace({ filter: behind })).to.equal("lacks an index");
    expect(byPlace({ filter: { $or: [{ runId: "r" }, { _id: "e" }] } })).to.equal("runId, -number, _id or _id");
  });

  it("has all documents of the answer", () => {
    const sparse = { key: { runId: 1 }, sparse: true };
    const partial = { key: { runId: 1 }, partialFilterExpression: { slug: { $exists: true } } };
    expect(served({ filter: { runId: "r" } }, sparse)).to.equal("runId");
    expect(served({ filter: { runId: { $in: [null, "r"] } } }, sparse)).to.equal("lacks an index");
    expect(served({ filter: { runId: "r" } }, partial)).to.equal("lacks an index");
    expect(served({ filter: { runId: "r", slug: "s" } }, partial)).to.equal("runId");
  });

  it("is the best of several, or the one that the query names", () => {
    const definitions = [{ key: { runId: 1 } }, { key: { runId: 1, kind: 1 } }, { key: { runId: 1, at: 1 } }];
    const filter = { runId: "r", kind: "k" };
    expect(served({ filter }, ...definitions)).to.equal("runId, kind");
    expect(served({ filter, sort: { at: 1 } }, ...definitions)).to.equal("runId, at");
    expect(served({ filter, hint: { runId: 1 } }, ...definitions)).to.equal("runId");
    expect(served({ filter, hint: { kind: 1 } }, ...definitions)).to.equal("lacks an index");
  });
});

describe("a kind of query of MongoDB", () => {
  const textsOf = (command: Document): readonly string[] => {
    const [name, collection] = Object.entries(command)[0] as [string, string];
    return askedBy(name, command).map((asked) => textOf(queryOf(collection, name, asked)));
  };

  it("has the fields and not the values", () => {
    expect(
      textsOf({ find: "a", filter: { b: "x", a: { $gt: 1 } }, sort: new Map([["c", -1]]), limit: 5 }),
    ).to.deep.equal(["find a<> b= sort -c limit"]);
    expect(textsOf({ find: "a", filter: { $or: [{ b: null }, { c: { $ne: 1 } }] } })).to.deep.equal(["find b=? | c~"]);
  });

  it("is in each command that looks for documents", () => {
    const [filter, q] = [{ a: 1 }, { a: 1 }];
    expect(textsOf({ update: "a", updates: [{ q }, { q: { b: 1 } }] })).to.deep.equal(["update a=", "update b="]);
    expect(textsOf({ delete: "a", deletes: [{ q, limit: 1 }] })).to.deep.equal(["delete a="]);
    expect(textsOf({ findAndModify: "a", query: q })).to.deep.equal(["findAndModify a="]);
    expect(textsOf({ distinct: "a", key: "b", query: q })).to.deep.equal(["distinct a="]);
    expect(textsOf({ distinct: "a", key: "b", query: {} })).to.deep.equal(["distinct everything sort b limit"]);
    expect(textsOf({ aggregate: "a", pipeline: [{ $match: filter }, { $sort: { b: 1 } }] })).to.deep.equal([
      "aggregate a= sort b",
    ]);
    expect(textsOf({ aggregate: "a", pipeline: [{ $group: { _id: "$b" } }] })).to.deep.equal(["aggregate everything"]);
    expect(textsOf({ insert: "a", documents: [] })).to.deep.equal([]);
  });
});

describe("an explained query of MongoDB", () => {
  it("tells the stages of each plan, also of nested ones", () => {
    const scan = {
      stage: "FETCH",
      inputStage: { stage: "OR", inputStages: [{ stage: "IXSCAN" }, { stage: "IXSCAN" }] },
    };
    const all = { queryPlan: { stage: "SORT", inputStage: { stage: "COLLSCAN" } } };
    expect(stagesOf({ queryPlanner: { winningPlan: scan, rejectedPlans: [all] } })).to.deep.equal([
      ["FETCH", "OR", "IXSCAN", "IXSCAN"],
      ["SORT", "COLLSCAN"],
    ]);
  });
});
