/**
 * Moves the records of a MongoDB store to other shards. An aggregate is moved after its look-ups and commands, so that a
 * repeat finds what was cut off.
 */
import type { AnyBulkWriteOperation } from "mongodb";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { Reshard } from "../ports/reshard.ts";
import { type Connection, insertIfAbsent, type Keyed } from "./connection.ts";
import { type CollectionName, shardKeyOf } from "./cluster/sharding.ts";

const PAGE = 500;
const LOOK_UPS = ["job_runs", "step_runs", "approvals"] as const;
/**
 * The identity of no existing Redis. The next owner of a shard sees that its Redis is another one, and writes everything
 * to it again.
 */
const NO_REDIS = { generation: "moved", redisRunId: "" };

export function reshard(connection: Connection): Reshard {
  return async (shards, shardOf) => {
    /** Moves all documents of a collection. `rootOf` names the field with the id of their root. */
    const moveAll = async (name: CollectionName, rootOf: string, alsoSet: readonly string[] = []): Promise<number> =>
      inPages(connection, name, { [rootOf]: 1, shard: 1 }, (document) => {
        const shard = shardOf(document[rootOf] as string);
        if (document["shard"] === shard) return null;
        return { shard, ...Object.fromEntries(alsoSet.map((field) => [field, shard])) };
      });
    for (const name of LOOK_UPS) await moveAll(name, "rootId");
    const commands = await moveAll("inbox", "rootId", ["command.shard"]);
    const deadLetters = await inPages(connection, "dead_letters", { text: 1 }, ({ text }) => {
      const letter = JSON.parse(text as string) as DeadLetter;
      const shard = shardOf(letter.rootId);
      return letter.shard === shard ? null : { text: JSON.stringify({ ...letter, shard }) };
    });
    const aggregates = await moveAll("aggregates", "_id");
    const owners = connection.collection<Keyed>("shards");
    for (let shard = 0; shard < shards; shard++) {
      const _id = String(shard);
      await insertIfAbsent<Keyed>(owners, { _id, epoch: 0, redis: NO_REDIS });
      await owners.updateOne({ _id }, { $set: { redis: NO_REDIS } });
    }
    return { aggregates, commands, deadLetters };
  };
}

/** Sets the fields that `change` answers, null for none, in each document. Answers how many documents were changed. */
async function inPages(
  connection: Connection,
  name: CollectionName,
  projection: Readonly<Record<string, 1>>,
  change: (document: Keyed) => Readonly<Record<string, unknown>> | null,
): Promise<number> {
  const collection = connection.collection<Keyed>(name);
  const key = shardKeyOf(name);
  let moved = 0;
  for (let after = ""; ;) {
    const page = await collection
      .find({ _id: { $gt: after } }, { projection })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    const updates = page.flatMap((document): AnyBulkWriteOperation<Keyed>[] => {
      const set = change(document);
      return set === null
        ? []
        : [{ updateOne: { filter: { _id: document._id, [key]: document[key] }, update: { $set: set } } }];
    });
    if (updates.length > 0) await collection.bulkWrite(updates, { ordered: false });
    moved += updates.length;
    if (page.length < PAGE) return moved;
    after = page.at(-1)!._id;
  }
}
