/** Places in lists of runs, as conditions of queries. */
import type { Document } from "mongodb";
import type { ListKey } from "../../ports/aggregates.ts";

/** What stands behind a place. The first condition bounds the part of the index that is read. */
export function behind({ at, id }: ListKey, descending: boolean): Document {
  const [beyond, upTo] = descending ? (["$lt", "$lte"] as const) : (["$gt", "$gte"] as const);
  return {
    "summary.createdAt": { [upTo]: at },
    $or: [{ "summary.createdAt": { [beyond]: at } }, { "summary.createdAt": at, _id: { [beyond]: id } }],
  };
}
