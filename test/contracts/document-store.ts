/** The contract of the store of documents. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { type OwnedDocument, ownerOf } from "../../src/stores/ports/documents.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export function documentStoreContract(open: () => Pick<Stores, "documents">): void {
  describe("documents", () => {
    const fresh = (value: string, version = 1): OwnedDocument<"variables"> => ({
      kind: "variables",
      owner: ownerOf({ projectId: newId("prj") }),
      version,
      body: { variables: [{ name: "$a.b", value, updatedAt: 5, updatedBy: "ann" }] },
    });

    it("are found by their owners as they were saved", async () => {
      const { documents } = open();
      const [one, other] = [fresh("one"), fresh("other")];
      for (const document of [one, other]) expect(await documents.save(document)).to.equal(true);
      const found = await documents.find("variables", [one.owner, ownerOf({ tenantId: newId("tnt") }), other.owner]);
      expect(found).to.have.deep.members([one, other]);
      expect(await documents.find("variables", [])).to.deep.equal([]);
    });

    it("are saved only after the version that is stored", async () => {
      const { documents } = open();
      const first = fresh("first");
      const second = { ...fresh("second", 2), owner: first.owner };
      expect(await documents.save(second), "before there is any").to.equal(false);
      expect(await documents.save(first)).to.equal(true);
      expect(await documents.save({ ...second, version: 1 }), "a first one twice").to.equal(false);
      expect(await documents.save({ ...second, version: 3 }), "with a gap").to.equal(false);
      expect(await documents.save(second)).to.equal(true);
      expect(await documents.save(second), "twice").to.equal(false);
      expect(await documents.find("variables", [first.owner])).to.deep.equal([second]);
    });

    it("have one winner when several are saved at once", async () => {
      const { documents } = open();
      const { owner } = fresh("");
      for (const version of [1, 2]) {
        const saves = Array.from({ length: 5 }, (_, n) => documents.save({ ...fresh(`${n}`, version), owner }));
        expect((await Promise.all(saves)).filter(Boolean)).to.have.lengthOf(1);
      }
    });

    it("of several kinds are read together", async () => {
      const { documents } = open();
      const one = fresh("one");
      const other: OwnedDocument<"notified"> = { kind: "notified", owner: one.owner, version: 1, body: { since: 7 } };
      for (const document of [one, other]) await documents.save<"notified" | "variables">(document);
      const mine = async (...kinds: ("notified" | "variables" | "webhooks")[]) =>
        (await documents.all(...kinds)).filter(({ owner }) => owner === one.owner);
      expect(await mine("notified", "variables")).to.have.deep.members([one, other]);
      expect(await mine("notified", "webhooks")).to.deep.equal([other]);
    });

    it("go with their owner, and those of other owners stay", async () => {
      const { documents } = open();
      const [gone, kept] = [fresh("gone"), fresh("kept")];
      for (const document of [gone, kept]) await documents.save(document);
      for (const _ of ["once", "again"]) await documents.deleteOf(gone.owner);
      expect(await documents.find("variables", [gone.owner, kept.owner])).to.deep.equal([kept]);
      expect(await documents.save(gone), "as a first one").to.equal(true);
    });

    it("of a user go with the user", async () => {
      const { documents } = open();
      const owner = `user/${newId("usr")}` as const;
      const body = { choices: [] };
      const document: OwnedDocument<"notificationChoices"> = { kind: "notificationChoices", owner, version: 1, body };
      await documents.save(document);
      expect(await documents.find("notificationChoices", [owner])).to.deep.equal([document]);
      await documents.deleteOf(owner);
      expect(await documents.find("notificationChoices", [owner])).to.deep.equal([]);
    });
  });
}
