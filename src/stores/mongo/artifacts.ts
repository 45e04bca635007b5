/** The store of artifact records in MongoDB. */
import type { Filter } from "mongodb";
import type { ArtifactId } from "../../domain/ids.ts";
import type { ArtifactRecord, ArtifactStore, ArtifactSummary } from "../ports/artifacts.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface ArtifactDocument extends Omit<ArtifactRecord, "artifactId"> {
  readonly _id: ArtifactId;
}

/** How many step runs one query names: this bounds the size of a query, however many steps a run has. */
const STEPS_A_CALL = 500;

export function artifactStore(connection: Connection): ArtifactStore {
  const collection = connection.collection<ArtifactDocument>("artifacts");
  const list = async (filter: Filter<ArtifactDocument>): Promise<ArtifactSummary[]> => {
    const sorted = collection.find(filter, { projection: { files: 0 } }).sort({ createdAt: 1, _id: 1 });
    return (await sorted.toArray()).map(({ _id, ...summary }) => ({ artifactId: _id, ...summary }));
  };
  const find = async (_id: ArtifactId): Promise<ArtifactRecord | undefined> => {
    const { _id: artifactId, ...record } = (await collection.findOne({ _id })) ?? {};
    return artifactId && { artifactId, ...(record as Omit<ArtifactRecord, "artifactId">) };
  };
  return {
    async begin(record, runBytes) {
      const { artifactId, ...fields } = record;
      const known = await find(artifactId);
      if (known !== undefined) return known;
      const sum = collection.aggregate<{ bytes: number }>([
        { $match: { runId: record.runId } },
        { $group: { _id: null, bytes: { $sum: "$sizeBytes" } } },
      ]);
      if (((await sum.next())?.bytes ?? 0) + record.sizeBytes > runBytes) return "full";
      await insertIfAbsent(collection, { _id: artifactId, ...fields });
      return (await find(artifactId)) ?? record;
    },
    find,
    async store(artifactId, storedAt, expiresAt) {
      const changed = await collection.updateOne(
        { _id: artifactId, state: "uploading" },
        { $set: { state: "stored", storedAt, expiresAt } },
      );
      return changed.matchedCount > 0;
    },
    async extend(artifactId, expiresAt) {
      await collection.updateOne({ _id: artifactId, state: "uploading" }, { $set: { expiresAt } });
    },
    ofRun: (runId) => list({ runId }),
    async ofSteps(stepRunIds) {
      const found: ArtifactSummary[] = [];
      for (let at = 0; at < stepRunIds.length; at += STEPS_A_CALL) {
        found.push(...(await list({ stepRunId: { $in: stepRunIds.slice(at, at + STEPS_A_CALL) } })));
      }
      return found.sort((a, b) => a.createdAt - b.createdAt || (a.artifactId < b.artifactId ? -1 : 1));
    },
    async expired(now, limit) {
      const due = collection.find({ expiresAt: { $lte: now } }, { projection: { files: 0 } });
      const found = await due.sort({ expiresAt: 1, _id: 1 }).limit(limit).toArray();
      return found.map(({ _id, ...summary }) => ({ artifactId: _id, ...summary }));
    },
    async markDeleting(artifactId, expiredBy) {
      // `expiresAt` 0 makes a deletion that was cut off due at once, so that the next look finds it again.
      const changed = await collection.updateOne(
        { _id: artifactId, expiresAt: { $lte: expiredBy } },
        { $set: { state: "deleting", expiresAt: 0 } },
      );
      return changed.matchedCount > 0;
    },
    async remove(artifactId) {
      await collection.deleteOne({ _id: artifactId, state: "deleting" });
    },
  };
}
