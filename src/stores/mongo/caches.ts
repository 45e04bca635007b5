/** The store of cache entries in MongoDB. */
import type { Filter, Sort } from "mongodb";
import type { CacheId, ProjectId } from "../../domain/ids.ts";
import type { CacheRecord, CacheStore } from "../ports/caches.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";
import { readPage } from "./pages.ts";

interface CacheDocument extends Omit<CacheRecord, "cacheId"> {
  readonly _id: CacheId;
}

export function cacheStore(connection: Connection): CacheStore {
  const collection = connection.collection<CacheDocument>("caches");
  const find = async (_id: CacheId): Promise<CacheRecord | undefined> => {
    const found = await collection.findOne({ _id });
    return found === null ? undefined : toRecord(found);
  };
  const some = async (filter: Filter<CacheDocument>, sort: Sort, limit: number, skip = 0): Promise<CacheRecord[]> =>
    (await collection.find(filter).sort(sort).skip(skip).limit(limit).toArray()).map(toRecord);
  return {
    async begin(record) {
      const { cacheId, ...fields } = record;
      await insertIfAbsent(collection, { _id: cacheId, ...fields });
      return (await find(cacheId)) ?? record;
    },
    async store({ cacheId, blobId }, at, expiresAt) {
      const changed = await collection.updateOne(
        { _id: cacheId, blobId, state: "uploading" },
        { $set: { state: "stored", createdAt: at, usedAt: at, expiresAt } },
      );
      return changed.matchedCount > 0;
    },
    find,
    async newest({ projectId, version }, prefix, now) {
      const filter = { ...storedOf(projectId, prefix), version, expiresAt: { $gt: now } };
      return (await some(filter, { createdAt: -1, _id: 1 }, 1))[0];
    },
    async touch({ cacheId, blobId }, usedAt, expiresAt) {
      await collection.updateOne({ _id: cacheId, blobId, state: "stored" }, { $set: { usedAt, expiresAt } });
    },
    async list(projectId, prefix, request) {
      const entries = { collection, filter: storedOf(projectId, prefix), order: ["usedAt DESC", "_id ASC"] };
      const { documents, total } = await readPage(entries, { ...request, descending: true });
      return { list: documents.map(toRecord), total };
    },
    expired: (now, limit) => some({ expiresAt: { $lte: now } }, { expiresAt: 1, _id: 1 }, limit),
    async aboveProjectBytes(bytes, limit) {
      const sums = collection.aggregate<{ _id: ProjectId; sizeBytes: number }>([
        { $match: { state: "stored" } },
        { $group: { _id: "$projectId", sizeBytes: { $sum: "$sizeBytes" } } },
        { $match: { sizeBytes: { $gt: bytes } } },
      ]);
      const found: CacheRecord[] = [];
      for (const { _id: projectId } of await sums.toArray()) {
        let through = 0;
        const newestFirst = collection.find({ projectId, state: "stored" }).sort({ usedAt: -1, _id: 1 });
        for await (const entry of newestFirst) {
          through += entry.sizeBytes;
          if (through > bytes) found.push(toRecord(entry));
        }
      }
      return found.reverse().slice(0, limit);
    },
    async markDeleting({ cacheId, blobId }, usedBy) {
      // `expiresAt` 0 makes a deletion that was cut off due at once, so that the next look finds it again.
      const changed = await collection.updateOne(
        { _id: cacheId, blobId, usedAt: { $lte: usedBy } },
        { $set: { state: "deleting", expiresAt: 0 } },
      );
      return changed.matchedCount > 0;
    },
    async remove({ cacheId, blobId }) {
      await collection.deleteOne({ _id: cacheId, blobId, state: "deleting" });
    },
  };
}

/** Compares the prefix as plain text: it may contain characters that mean something in a pattern, or begin with `$`. */
function storedOf(projectId: ProjectId, prefix: string): Filter<CacheDocument> {
  const begins = { $eq: [{ $indexOfCP: ["$key", { $literal: prefix }] }, 0] };
  return { projectId, state: "stored", ...(prefix === "" ? {} : { $expr: begins }) };
}

function toRecord({ _id, ...record }: CacheDocument): CacheRecord {
  return { cacheId: _id, ...record };
}
