/** Watches the writes of a store, statement by statement, for tests of what a crash between two of them leaves. */
import { type BulkWriteResult, Collection } from "mongodb";
import { Database } from "../../src/stores/sqlite/database.ts";

export interface WriteWatch {
  /** Called after each statement that other callers see at once. */
  readonly seen: () => Promise<void>;
  /** Called after each statement, then. What it throws, the call of the store throws. */
  readonly done: () => void;
}

/** Watches until the answered function is called, or {@link endWatches}. */
export type WatchWrites = (watch: WriteWatch) => () => void;

const ends = new Set<() => void>();

/** Ends what a test has left: one that did not end in time must not fail the writes of the tests behind it. */
export function endWatches(): void {
  for (const end of ends) end();
}

function endedBy(restore: () => void): () => void {
  const end = (): void => {
    if (ends.delete(end)) restore();
  };
  ends.add(end);
  return end;
}

/** The statements of a transaction are seen together, with its end. */
export const watchSqlite: WatchWrites = ({ done }) => {
  const { runNow } = Database.prototype;
  Database.prototype.runNow = function (this: Database, ...call) {
    const changed = runNow.apply(this, call);
    done();
    return changed;
  };
  return endedBy(() => void (Database.prototype.runNow = runNow));
};

/** Each write of a bulk is a statement. */
export const watchMongo: WatchWrites = ({ seen, done }) => {
  const { insertOne, bulkWrite, deleteOne } = Collection.prototype;
  const watched = async <T>(write: Promise<T>): Promise<T> => {
    const answer = await write;
    await seen();
    done();
    return answer;
  };
  Collection.prototype.insertOne = function (this: Collection, ...call) {
    return watched(insertOne.apply(this, call));
  };
  Collection.prototype.deleteOne = function (this: Collection, ...call) {
    return watched(deleteOne.apply(this, call));
  };
  Collection.prototype.bulkWrite = async function (this: Collection, operations, options) {
    let answer: BulkWriteResult | undefined;
    for (const operation of operations) answer = await watched(bulkWrite.call(this, [operation], options));
    return answer!;
  };
  return endedBy(() => void Object.assign(Collection.prototype, { insertOne, bulkWrite, deleteOne }));
};
