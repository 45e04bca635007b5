/** The store of the plugin registry in MongoDB. */
import type { Owner } from "../../domain/roles.ts";
import type { PluginKey, PluginRecord, PluginStore } from "../ports/plugins.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface PluginDocument extends Omit<PluginRecord, "owner"> {
  /** `<name>@<version>`, of an owned plugin behind `<owner>/`. A name contains no `@`, so the id is unique. */
  readonly _id: string;
  /** Absent for a plugin of the installation. */
  readonly owner?: Owner;
}

const SUMMARY = { projection: { _id: 0, manifest: 0 } } as const;

export function pluginStore(connection: Connection): PluginStore {
  // A collection of its own: nodes of the previous version look plugins up by name and version alone.
  const shared = connection.collection<PluginDocument>("plugins");
  const owned = connection.collection<PluginDocument>("owned_plugins");
  const of = (owner: Owner) =>
    owner === "installation" ? { collection: shared, filter: {} } : { collection: owned, filter: { owner } };
  const find = async (key: PluginKey): Promise<PluginRecord | undefined> => {
    const found = await of(key.owner).collection.findOne({ _id: idOf(key) }, { projection: { _id: 0 } });
    return found === null ? undefined : { ...found, owner: key.owner };
  };
  return {
    async begin({ owner, ...record }) {
      const { collection, filter } = of(owner);
      await insertIfAbsent(collection, { _id: idOf({ owner, ...record }), ...filter, ...record });
      return (await find({ owner, ...record })) ?? { owner, ...record };
    },
    async store({ owner, packageId }) {
      const changed = await of(owner).collection.updateOne(
        { packageId, state: { $in: ["storing", "stored"] } },
        { $set: { state: "stored" } },
      );
      return changed.matchedCount > 0;
    },
    async markDeleting({ owner, packageId }) {
      await of(owner).collection.updateOne({ packageId }, { $set: { state: "deleting" } });
    },
    async remove({ owner, packageId }) {
      await of(owner).collection.deleteOne({ packageId, state: "deleting" });
    },
    find,
    async versionsOf({ owner, name }) {
      const { collection, filter } = of(owner);
      const found = collection.find({ ...filter, name, state: "stored" }, SUMMARY);
      return (await found.sort({ createdAt: 1, packageId: 1 }).toArray()).map((summary) => ({ ...summary, owner }));
    },
    async names(owner) {
      const { collection, filter } = of(owner);
      const names = await collection.distinct("name", { ...filter, state: "stored" });
      return names.toSorted((a, b) => (a < b ? -1 : 1));
    },
    async listOf(owner, limit) {
      const { collection, filter } = of(owner);
      return (await collection.find(filter, SUMMARY).limit(limit).toArray()).map((summary) => ({ ...summary, owner }));
    },
    async bytesOf(owner) {
      const { collection, filter } = of(owner);
      const sum = { $group: { _id: null, bytes: { $sum: "$sizeBytes" } } };
      const [found] = await collection.aggregate<{ readonly bytes: number }>([{ $match: filter }, sum]).toArray();
      return found?.bytes ?? 0;
    },
  };
}

function idOf({ owner, name, version }: PluginKey): string {
  return owner === "installation" ? `${name}@${version}` : `${owner}/${name}@${version}`;
}
