/** The images of runs in MongoDB. */
import type { RunId } from "../../../domain/ids.ts";
import type { RunImage, RunImageStore } from "../../ports/outputs.ts";
import { type Connection, insertIfAbsent } from "../connection.ts";

interface ImageDocument extends RunImage {
  readonly _id: string;
}

export function runImageStore(connection: Connection): RunImageStore {
  const collection = connection.collection<ImageDocument>("run_images");
  return {
    async pin({ runId, image, digest }) {
      const _id = `${runId}/${image}`;
      if (await insertIfAbsent(collection, { _id, runId, image, digest })) return digest;
      // Removed in between only together with its run.
      return (await collection.findOne({ _id, runId }))?.digest ?? digest;
    },
    async of(runId) {
      return collection.find(ofRun(runId), { projection: { _id: 0 } }).toArray() as Promise<RunImage[]>;
    },
  };
}

/** By the key of their shard, and by the ids, which begin with that of the run: `0` is the character behind `/`. */
export function ofRun(runId: RunId) {
  return { runId, _id: { $gte: `${runId}/`, $lt: `${runId}0` } };
}
