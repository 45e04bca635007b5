/** The store of test histories in MongoDB: one document for each test. */
import type { AnyBulkWriteOperation, Filter } from "mongodb";
import { ORDER_FIGURES, type TestHistory, type TestHistoryStore } from "../../ports/statistics.ts";
import { type Connection, isDuplicateKey } from "../connection.ts";

/** The figures stand beside the whole, which is JSON: names of tests are no fields. */
interface HistoryDocument extends Pick<
  TestHistory,
  "pipelineId" | "testId" | "flaky" | "failing" | "meanMs" | "seenAt" | "version"
> {
  readonly _id: string;
  readonly body: string;
}

export function testHistoryStore(connection: Connection): TestHistoryStore {
  const collection = connection.collection<HistoryDocument>("test_histories");
  return {
    async find(pipelineId, testIds) {
      const found = collection.find({ _id: { $in: testIds.map((testId) => `${pipelineId}/${testId}`) } });
      return found.map(historyOf).toArray();
    },
    async put(histories) {
      if (histories.length === 0) return true;
      try {
        const done = await collection.bulkWrite(histories.map(writeOf), { ordered: false });
        return done.matchedCount + done.upsertedCount === histories.length;
      } catch (error) {
        // Another node has stored one of them.
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    async list(pipelineId, { order, after, limit }) {
      const figure = ORDER_FIGURES[order];
      const behind: Filter<HistoryDocument> =
        after === undefined
          ? {}
          : { $or: [{ [figure]: { $lt: after.at } }, { [figure]: after.at, testId: { $lt: after.id } }] };
      const found = collection
        .find({ pipelineId, [figure]: { $gt: 0 }, ...behind })
        .sort({ [figure]: -1, testId: -1 })
        .limit(limit);
      return found.map(historyOf).toArray();
    },
    async trim(pipelineId, most) {
      const beyond = await collection
        .find({ pipelineId }, { projection: { _id: 1 } })
        .sort({ seenAt: -1, testId: -1 })
        .skip(most)
        .toArray();
      if (beyond.length > 0) await collection.deleteMany({ _id: { $in: beyond.map(({ _id }) => _id) } });
    },
    async forget(before, limit) {
      const old = await collection
        .find({ seenAt: { $lt: before } }, { projection: { _id: 1 } })
        .limit(limit)
        .toArray();
      return (await collection.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } })).deletedCount;
    },
    async drop(pipelineId) {
      await collection.deleteMany({ pipelineId });
    },
  };
}

function writeOf(history: TestHistory): AnyBulkWriteOperation<HistoryDocument> {
  const { pipelineId, testId, flaky, failing, meanMs, seenAt, version } = history;
  const filter = { _id: `${pipelineId}/${testId}` };
  const $set = { pipelineId, testId, flaky, failing, meanMs, seenAt, version, body: JSON.stringify(history) };
  // A document that exists has another version: its id refuses the insert.
  if (version === 1) return { updateOne: { filter: { ...filter, version: 0 }, update: { $set }, upsert: true } };
  return { updateOne: { filter: { ...filter, version: version - 1 }, update: { $set } } };
}

function historyOf({ body }: HistoryDocument): TestHistory {
  return JSON.parse(body) as TestHistory;
}
