/** The store of uploads in MongoDB. */
import type { Filter, Sort } from "mongodb";
import type { RunId, UploadId } from "../../domain/ids.ts";
import type { UploadRecord, UploadStore } from "../ports/uploads.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface UploadDocument extends Omit<UploadRecord, "uploadId"> {
  readonly _id: UploadId;
}

interface UseDocument {
  readonly _id: string;
  readonly uploadId: UploadId;
  readonly runId: RunId;
  readonly at: number;
}

export function uploadStore(connection: Connection): UploadStore {
  const uploads = connection.collection<UploadDocument>("uploads");
  const uses = connection.collection<UseDocument>("upload_uses");
  const some = async (filter: Filter<UploadDocument>, sort: Sort, limit: number): Promise<UploadRecord[]> =>
    (await uploads.find(filter).sort(sort).limit(limit).toArray()).map(toRecord);
  return {
    async begin({ uploadId, ...fields }) {
      await insertIfAbsent(uploads, { _id: uploadId, ...fields });
    },
    async find(_id) {
      const found = await uploads.findOne({ _id });
      return found === null ? undefined : toRecord(found);
    },
    async takeOver(_id, writer, expiresAt) {
      const changed = await uploads.updateOne({ _id, state: "uploading" }, { $set: { writer, expiresAt } });
      return changed.matchedCount > 0;
    },
    async store({ uploadId, writer }, content, at, expiresAt) {
      const changed = await uploads.updateOne(
        { _id: uploadId, writer, state: "uploading" },
        { $set: { ...content, state: "stored", usedAt: at, expiresAt } },
      );
      return changed.matchedCount > 0;
    },
    async list(projectId, limit, after) {
      const listed: Filter<UploadDocument> = { projectId, state: { $ne: "deleting" } };
      const behind: Filter<UploadDocument> =
        after === undefined
          ? {}
          : {
              createdAt: { $lte: after.at },
              $or: [{ createdAt: { $lt: after.at } }, { _id: { $lt: after.id as UploadId } }],
            };
      const [total, list] = await Promise.all([
        uploads.countDocuments(listed),
        some({ ...listed, ...behind }, { createdAt: -1, _id: -1 }, limit),
      ]);
      return { list, total };
    },
    async amountOf(projectId) {
      const sums = uploads.aggregate<{ count: number; bytes: number }>([
        { $match: { projectId } },
        { $group: { _id: null, count: { $sum: 1 }, bytes: { $sum: "$sizeBytes" } } },
      ]);
      const { count = 0, bytes = 0 } = (await sums.next()) ?? {};
      return { count, bytes };
    },
    async use({ uploadId, projectId }, { runId, at }, expiresAt) {
      // The use is there before the time is set: a pruner that does not see the use sees that the time has changed.
      const _id = useId(uploadId, runId);
      await insertIfAbsent(uses, { _id, uploadId, runId, at });
      const changed = await uploads.updateOne(
        { _id: uploadId, projectId, state: "stored" },
        { $max: { usedAt: at, expiresAt } },
      );
      if (changed.matchedCount > 0) return true;
      await uses.deleteOne({ _id, uploadId });
      return false;
    },
    async usesOf(uploadId, limit) {
      const found = await uses.find({ uploadId }).sort({ at: -1 }).limit(limit).toArray();
      return found.map(({ runId, at }) => ({ runId, at }));
    },
    async dropUse(uploadId, runId) {
      await uses.deleteOne({ _id: useId(uploadId, runId), uploadId });
    },
    async forgetRun(runId) {
      await uses.deleteMany({ runId });
    },
    expired: (now, limit) => some({ expiresAt: { $lte: now } }, { expiresAt: 1, _id: 1 }, limit),
    async extend(_id, expiresAt) {
      await uploads.updateOne({ _id, state: { $ne: "deleting" } }, { $set: { expiresAt } });
    },
    async markDeleting(_id, usedBy) {
      // `expiresAt` 0 makes a deletion that was cut off due at once, so that the next look finds it again.
      const changed = await uploads.updateOne(
        { _id, usedAt: { $lte: usedBy } },
        { $set: { state: "deleting", expiresAt: 0 } },
      );
      return changed.matchedCount > 0;
    },
    async remove(_id) {
      if ((await uploads.findOne({ _id, state: "deleting" }, { projection: { _id: 1 } })) === null) return;
      await uses.deleteMany({ uploadId: _id });
      await uploads.deleteOne({ _id, state: "deleting" });
    },
  };
}

function useId(uploadId: UploadId, runId: RunId): string {
  return `${uploadId}/${runId}`;
}

function toRecord({ _id, ...record }: UploadDocument): UploadRecord {
  return { uploadId: _id, ...record };
}
