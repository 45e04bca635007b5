/**
 * A duplicate on MongoDB is answered as success when a majority has the document. The server of these tests has no
 * replicas, so the answer of its majority is held back here.
 */
import { expect } from "chai";
import { type Collection, MongoClient } from "mongodb";
import type { MillraceError } from "../../src/domain/errors.ts";
import { insertAbsent, insertIfAbsent, type Keyed, untilMajority } from "../../src/stores/mongo/connection.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";

describe("a duplicate key on MongoDB", function () {
  this.timeout(60_000);
  let client: MongoClient;
  let documents: Collection<Keyed>;
  /** Called before each read of what the majority has; false hides everything. */
  let majorityHas: () => Promise<boolean>;
  let reads: number;

  before(async () => void (client = await MongoClient.connect((await startTestMongo()).url)));
  after(() => client?.close());
  beforeEach(() => {
    const stored = client.db(freshDatabase()).collection<Keyed>("documents");
    reads = 0;
    majorityHas = () => Promise.resolve(true);
    const find = (filter: object, options: { readConcern?: { level: string } }) => {
      if (options.readConcern?.level !== "majority") return stored.find(filter, options as never);
      const toArray = async (): Promise<unknown[]> => {
        reads++;
        return (await majorityHas()) ? stored.find(filter, options as never).toArray() : [];
      };
      return { toArray };
    };
    documents = new Proxy(stored, {
      get(target, name) {
        if (name === "find") return find;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  });

  it("waits until a majority has the document", async () => {
    expect(await insertIfAbsent(documents, { _id: "a" })).to.equal(true);
    expect(reads, "an insert of its own waits by its write concern").to.equal(0);
    majorityHas = () => Promise.resolve(reads === 4);
    expect(await insertIfAbsent(documents, { _id: "a" })).to.equal(false);
    expect(reads).to.equal(4);
    reads = 0;
    await insertAbsent(documents, [{ _id: "a" }, { _id: "b" }]);
    expect(reads).to.equal(4);
  });

  it("inserts the document when the duplicate was rolled back meanwhile", async () => {
    await insertIfAbsent(documents, { _id: "a", by: "first" });
    majorityHas = async () => {
      if (reads === 1) await documents.deleteOne({ _id: "a" });
      return reads > 1;
    };
    expect(await insertIfAbsent(documents, { _id: "a", by: "second" })).to.equal(true);
    expect(await documents.findOne({ _id: "a" })).to.have.property("by", "second");
  });

  it("is no success when the majority does not get the document", async () => {
    await insertIfAbsent(documents, { _id: "a" });
    majorityHas = () => Promise.resolve(false);
    const answer = await untilMajority(documents, ["a"], 50).catch(({ reason }: MillraceError) => reason);
    expect(answer).to.equal("unavailable");
  });

  it("of another index needs no majority", async () => {
    await documents.createIndex({ name: 1 }, { unique: true });
    await insertIfAbsent(documents, { _id: "a", name: "n" });
    expect(await insertIfAbsent(documents, { _id: "b", name: "n" })).to.equal(false);
    expect(await untilMajority(documents, ["b"])).to.equal("gone");
  });
});
