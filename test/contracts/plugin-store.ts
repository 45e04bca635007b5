/** The contract of the store of the plugin registry. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { PluginRecord } from "../../src/stores/ports/plugins.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export function pluginStoreContract(open: () => Stores): void {
  describe("plugins", () => {
    let names = 0;
    const freshName = (): string => `team/plugin.${names++}`;
    const sample = (fields: Partial<PluginRecord> = {}): PluginRecord => ({
      name: freshName(),
      version: "1.0.0",
      packageId: newId("pkg"),
      sha256: "a".repeat(64),
      sizeBytes: 1_234,
      state: "storing",
      createdAt: 1_000,
      createdBy: "ann",
      // Some stores read keys with dots or a leading dollar sign as paths.
      manifest: JSON.stringify({ args: { $ref: "#/$defs/a.b" } }),
      ...fields,
    });
    const stored = async (fields: Partial<PluginRecord> = {}): Promise<PluginRecord> => {
      const record = sample(fields);
      await open().plugins.begin(record);
      expect(await open().plugins.store(record.packageId)).to.equal(true);
      return { ...record, state: "stored" };
    };

    it("are begun once, also by concurrent callers, and are found in any state", async () => {
      const name = freshName();
      const all = Array.from({ length: 10 }, () => sample({ name }));
      const begun = await Promise.all(all.map((record) => open().plugins.begin(record)));
      const found = await open().plugins.find(name, "1.0.0");
      expect(all).to.deep.include(found);
      for (const answer of begun) expect(answer).to.deep.equal(found);
      expect(await open().plugins.find(name, "1.0.1")).to.equal(undefined);
    });

    it("are listed when they are stored, oldest push first, without their manifests", async () => {
      const second = await stored({ version: "1.0.0", createdAt: 2_000 });
      const { name } = second;
      const first = await stored({ name, version: "1.1.0", createdAt: 1_000 });
      await open().plugins.begin(sample({ name, version: "2.0.0" }));
      const without = [first, second].map((record) => {
        const { manifest, ...summary } = record;
        expect(manifest).not.to.equal("");
        return summary;
      });
      expect(await open().plugins.versionsOf(name)).to.deep.equal(without);
      expect(await open().plugins.versionsOf(freshName())).to.deep.equal([]);
    });

    it("are named once each, in alphabetical order", async () => {
      const pending = sample();
      await open().plugins.begin(pending);
      const [b, a] = [await stored({ name: "zz/b" }), await stored({ name: "zz/a" })];
      await stored({ name: "zz/a", version: "2.0.0" });
      const all = await open().plugins.names();
      expect(all.filter((name) => name.startsWith("zz/"))).to.deep.equal([a.name, b.name]);
      expect(all).not.to.include(pending.name);
      expect(all).to.deep.equal(all.toSorted());
    });

    it("cannot be stored once they are marked as deleting, and stay until they are removed", async () => {
      const record = await stored();
      const { plugins } = open();
      await plugins.remove(record.packageId);
      expect(await plugins.find(record.name, record.version)).to.deep.equal(record);
      await plugins.markDeleting(record.packageId);
      expect(await plugins.store(record.packageId)).to.equal(false);
      expect(await plugins.versionsOf(record.name)).to.deep.equal([]);
      expect((await plugins.find(record.name, record.version))!.state).to.equal("deleting");
      await plugins.remove(record.packageId);
      await plugins.remove(record.packageId);
      expect(await plugins.find(record.name, record.version)).to.equal(undefined);
      expect(await plugins.store(record.packageId)).to.equal(false);
      const next = await stored({ name: record.name });
      await plugins.markDeleting(record.packageId);
      expect(await plugins.find(next.name, next.version), "another push of the version").to.deep.equal(next);
    });
  });
}
