/** Watches the writes of a store, statement by statement, for tests of what a crash between two of them leaves. */
import { type BulkWriteResult, Collection } from "mongodb";
import { Database } from "../../src/stores/sqlite/database.ts";

export interface WriteWatch {
  /** Called after each statement that other callers see at once. */
  readonly seen: () => Promise<void>;
  /** Called after each statement, then. What it throws, the call of the store throws. */
  readonly done: () => void;
}

/** Watches until the answered function is called. */
export type WatchWrites = (watch: WriteWatch) => () => void;

/** The statements of a transaction are seen together, with its end. */
export const watchSqlite: WatchWrites = ({ done }) => {
  const { runNow } = Database.prototype;
  Database.prototype.runNow = function (this: Database, ...call) {
    const changed = runNow.apply(this, call);
    done();
    return changed;
  };
  return () => void (Database.prototype.runNow = runNow);
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
  return () => void Object.assign(Collection.prototype, { insertOne, bulkWrite, deleteOne });
};
