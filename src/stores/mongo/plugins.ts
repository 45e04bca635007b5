/** The store of the plugin registry in MongoDB. */
import type { PluginRecord, PluginStore } from "../ports/plugins.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface PluginDocument extends PluginRecord {
  /** `<name>@<version>`. A name contains no `@`, so the id is unique. */
  readonly _id: string;
}

export function pluginStore(connection: Connection): PluginStore {
  const collection = connection.collection<PluginDocument>("plugins");
  const find = async (name: string, version: string): Promise<PluginRecord | undefined> => {
    const found = await collection.findOne({ _id: idOf(name, version) }, { projection: { _id: 0 } });
    return found === null ? undefined : (found as PluginRecord);
  };
  return {
    async begin(record) {
      await insertIfAbsent(collection, { _id: idOf(record.name, record.version), ...record });
      return (await find(record.name, record.version)) ?? record;
    },
    async store(packageId) {
      const changed = await collection.updateOne(
        { packageId, state: { $in: ["storing", "stored"] } },
        { $set: { state: "stored" } },
      );
      return changed.matchedCount > 0;
    },
    async markDeleting(packageId) {
      await collection.updateOne({ packageId }, { $set: { state: "deleting" } });
    },
    async remove(packageId) {
      await collection.deleteOne({ packageId, state: "deleting" });
    },
    find,
    async versionsOf(name) {
      const stored = collection.find({ name, state: "stored" }, { projection: { _id: 0, manifest: 0 } });
      return (await stored.sort({ createdAt: 1, packageId: 1 }).toArray()).map((summary) => summary);
    },
    async names() {
      return (await collection.distinct("name", { state: "stored" })).toSorted((a, b) => (a < b ? -1 : 1));
    },
  };
}

function idOf(name: string, version: string): string {
  return `${name}@${version}`;
}
