/** The store of removals of runs in MongoDB. */
import type { RunId } from "../../domain/ids.ts";
import type { Removal, RemovalStore } from "../ports/removals.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface RemovalDocument {
  readonly _id: RunId;
  readonly at: number;
  readonly isRepeat: boolean;
  readonly done: boolean;
  /** Null once the removal is done. */
  readonly removal: Removal | null;
}

export function removalStore(connection: Connection): RemovalStore {
  const removals = connection.collection<RemovalDocument>("removals");
  return {
    async begin(removal) {
      const { runId, at, isRepeat } = removal;
      await insertIfAbsent(removals, { _id: runId, at, isRepeat, done: false, removal });
    },
    async unfinished(limit) {
      const found = await removals.find({ done: false }).limit(limit).toArray();
      return found.flatMap(({ removal }) => (removal === null ? [] : [removal]));
    },
    async find(runId) {
      const found = await removals.findOne({ _id: runId });
      return found === null ? undefined : { removal: found.removal };
    },
    async finish(runId) {
      await removals.updateOne({ _id: runId }, { $set: { done: true, removal: null } });
    },
    async forget(before, limit) {
      const old = { done: true, isRepeat: false, at: { $lt: before } };
      const found = await removals
        .find(old, { projection: { _id: 1 } })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      return (await removals.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } })).deletedCount;
    },
    async drop(runId) {
      await removals.deleteOne({ _id: runId });
    },
  };
}
