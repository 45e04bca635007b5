/** The store of sealed secrets in MongoDB. */
import { type SealedSecret, secretIdOf, type SecretStore } from "../ports/secrets.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";
import type { ListPlace } from "../ports/pages.ts";
import { readPage } from "./pages.ts";

interface SecretDocument extends SealedSecret {
  readonly _id: string;
}

const WITHOUT_ID = { _id: 0 } as const;

export function secretStore(connection: Connection): SecretStore {
  const collection = connection.collection<SecretDocument>("secrets");
  return {
    create: async (secret) =>
      (await insertIfAbsent(collection, { _id: secretIdOf(secret), ...secret })) ? "created" : "exists",
    async replace(key, { keyId, sealed, updatedAt, updatedBy }, version) {
      const replaced = await collection.findOneAndUpdate(
        { _id: secretIdOf(key), ...(version !== undefined && { version }) },
        { $set: { keyId, sealed, updatedAt, updatedBy }, $inc: { version: 1 } },
        { returnDocument: "after", projection: WITHOUT_ID },
      );
      return replaced ?? undefined;
    },
    get: async (key) => (await collection.findOne({ _id: secretIdOf(key) }, { projection: WITHOUT_ID })) ?? undefined,
    find: ({ projectId, pipelineId }, names) => {
      const scopes = [
        { projectId, pipelineId: null },
        { projectId, pipelineId },
      ];
      const $in = scopes.flatMap((scope) => names.map((name) => secretIdOf({ ...scope, name })));
      return collection.find({ _id: { $in } }, { projection: WITHOUT_ID }).toArray();
    },
    async list({ projectId, pipelineId }, request) {
      const filter = { projectId, pipelineId };
      const placeOf = ({ id }: ListPlace) => [id];
      const secrets = { collection, filter, order: ["name"], projection: WITHOUT_ID, placeOf };
      const { documents, total } = await readPage(secrets, { ...request, descending: false });
      return { list: documents, total };
    },
    delete: async (key) => (await collection.deleteOne({ _id: secretIdOf(key) })).deletedCount > 0,
    async deleteOfPipeline(pipelineId) {
      await collection.deleteMany({ pipelineId });
    },
    async deleteOfProject(projectId) {
      await collection.deleteMany({ projectId });
    },
    pageNotUnder: (keyId, after, limit) =>
      collection
        .find(
          { keyId: { $ne: keyId }, _id: { $gt: after === null ? "" : secretIdOf(after) } },
          { projection: WITHOUT_ID },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    async reseal(secret, { keyId, sealed }) {
      const { matchedCount } = await collection.updateOne(
        { _id: secretIdOf(secret), sealed: secret.sealed },
        { $set: { keyId, sealed } },
      );
      return matchedCount > 0;
    },
  };
}
