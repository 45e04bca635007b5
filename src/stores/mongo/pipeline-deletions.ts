/** The store of deletions of pipelines in MongoDB. */
import type { PipelineId } from "../../domain/ids.ts";
import type { PipelineDeletion, PipelineDeletionStore } from "../ports/pipeline-deletions.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface DeletionDocument {
  readonly _id: PipelineId;
  readonly at: number;
  readonly by: string;
  readonly decided: boolean;
}

export function pipelineDeletionStore(connection: Connection): PipelineDeletionStore {
  const deletions = connection.collection<DeletionDocument>("pipeline_deletions");
  const decide = async (pipelineId: PipelineId): Promise<boolean> =>
    (await deletions.updateOne({ _id: pipelineId }, { $set: { decided: true } })).matchedCount > 0;
  return {
    async note({ pipelineId, at, by, decided }) {
      for (;;) {
        const inserted = await insertIfAbsent(deletions, { _id: pipelineId, at, by, decided });
        // An earlier record that cannot be decided was withdrawn meanwhile, so the insertion is tried again.
        if (inserted || !decided || (await decide(pipelineId))) return;
      }
    },
    decide,
    async withdraw(pipelineId) {
      await deletions.deleteOne({ _id: pipelineId, decided: false });
      return (await deletions.findOne({ _id: pipelineId, decided: true })) === null;
    },
    async find(pipelineId) {
      const found = await deletions.findOne({ _id: pipelineId });
      return found === null ? undefined : toDeletion(found);
    },
    async page(after, limit) {
      const found = await deletions
        .find({ _id: { $gt: after as PipelineId } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(toDeletion);
    },
    async drop(pipelineId) {
      await deletions.deleteOne({ _id: pipelineId });
    },
  };
}

function toDeletion({ _id: pipelineId, at, by, decided }: DeletionDocument): PipelineDeletion {
  return { pipelineId, at, by, decided };
}
