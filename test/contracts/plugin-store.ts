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
      owner: "installation",
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
      expect(await open().plugins.store(record)).to.equal(true);
      return { ...record, state: "stored" };
    };

    it("are begun once, also by concurrent callers, and are found in any state", async () => {
      const name = freshName();
      const all = Array.from({ length: 10 }, () => sample({ name }));
      const begun = await Promise.all(all.map((record) => open().plugins.begin(record)));
      const found = await open().plugins.find({ owner: "installation", name, version: "1.0.0" });
      expect(all).to.deep.include(found);
      for (const answer of begun) expect(answer).to.deep.equal(found);
      expect(await open().plugins.find({ owner: "installation", name, version: "1.0.1" })).to.equal(undefined);
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
      expect(await open().plugins.versionsOf(second)).to.deep.equal(without);
      expect(await open().plugins.versionsOf({ owner: "installation", name: freshName() })).to.deep.equal([]);
    });

    it("are named once each, in alphabetical order", async () => {
      const pending = sample();
      await open().plugins.begin(pending);
      const [b, a] = [await stored({ name: "zz/b" }), await stored({ name: "zz/a" })];
      await stored({ name: "zz/a", version: "2.0.0" });
      const all = await open().plugins.names("installation");
      expect(all.filter((name) => name.startsWith("zz/"))).to.deep.equal([a.name, b.name]);
      expect(all).not.to.include(pending.name);
      expect(all).to.deep.equal(all.toSorted());
    });

    it("cannot be stored once they are marked as deleting, and stay until they are removed", async () => {
      const record = await stored();
      const { plugins } = open();
      await plugins.remove(record);
      expect(await plugins.find(record)).to.deep.equal(record);
      await plugins.markDeleting(record);
      expect(await plugins.store(record)).to.equal(false);
      expect(await plugins.versionsOf(record)).to.deep.equal([]);
      expect((await plugins.find(record))!.state).to.equal("deleting");
      await plugins.remove(record);
      await plugins.remove(record);
      expect(await plugins.find(record)).to.equal(undefined);
      expect(await plugins.store(record)).to.equal(false);
      const next = await stored({ name: record.name });
      await plugins.markDeleting(record);
      expect(await plugins.find(next), "another push of the version").to.deep.equal(next);
    });

    it("of one name belong to the installation, a tenant and a project without touching one another", async () => {
      const tenant = `tenant/${newId("tnt")}` as const;
      const project = `project/${newId("prj")}` as const;
      const name = freshName();
      const shared = await stored({ name });
      const owned = await stored({ name, owner: tenant, sha256: "b".repeat(64), createdAt: 2_000 });
      const own = await stored({ name, owner: project, sizeBytes: 10 });
      const newer = await stored({ name, owner: project, version: "1.1.0", sizeBytes: 5 });
      const other = await stored({ owner: project, name: `${name}.b`, sizeBytes: 7 });
      const { plugins } = open();
      for (const record of [shared, owned, own, newer]) expect(await plugins.find(record)).to.deep.equal(record);
      expect(await plugins.begin({ ...sample({ name }), owner: tenant })).to.deep.equal(owned);
      expect((await plugins.versionsOf(own)).map(({ owner, version }) => [owner, version])).to.deep.equal([
        [project, "1.0.0"],
        [project, "1.1.0"],
      ]);
      expect(await plugins.names(project)).to.deep.equal([name, other.name]);
      expect(await plugins.names(tenant)).to.deep.equal([name]);
      expect((await plugins.names("installation")).filter((one) => one === name)).to.deep.equal([name]);

      const pending = sample({ owner: project, sizeBytes: 3 });
      await plugins.begin(pending);
      expect(await plugins.bytesOf(project)).to.equal(25);
      expect(await plugins.bytesOf(`project/${newId("prj")}`)).to.equal(0);
      const listed = await plugins.listOf(project, 10);
      expect(listed.map(({ packageId }) => packageId)).to.have.members(
        [own, newer, other, pending].map(({ packageId }) => packageId),
      );
      expect(await plugins.listOf(project, 2)).to.have.length(2);
      for (const one of listed) {
        await plugins.markDeleting(one);
        await plugins.remove(one);
      }
      expect(await plugins.listOf(project, 10)).to.deep.equal([]);
      for (const record of [shared, owned]) expect(await plugins.find(record)).to.deep.equal(record);
    });
  });
}
