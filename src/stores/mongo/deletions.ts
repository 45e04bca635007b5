/** The stores of deletions in MongoDB. */
import type { PipelineId } from "../../domain/ids.ts";
import type { AreaDeletion, AreaDeletionStore, PipelineDeletion, PipelineDeletionStore } from "../ports/deletions.ts";
import { type DocumentOwner, ownerOf } from "../ports/documents.ts";
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

interface AreaDocument {
  readonly _id: DocumentOwner;
  readonly body: AreaDeletion;
}

export function areaDeletionStore(connection: Connection): AreaDeletionStore {
  const deletions = connection.collection<AreaDocument>("area_deletions");
  return {
    async note(deletion) {
      await insertIfAbsent(deletions, { _id: ownerOf(deletion.area), body: deletion });
    },
    async page(after, limit) {
      const found = await deletions
        .find({ _id: { $gt: after as DocumentOwner } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ body }) => body);
    },
    async setEmptied(area, emptiedAt) {
      await deletions.updateOne({ _id: ownerOf(area) }, { $set: { "body.emptiedAt": emptiedAt } });
    },
    async drop(area) {
      await deletions.deleteOne({ _id: ownerOf(area) });
    },
  };
}
