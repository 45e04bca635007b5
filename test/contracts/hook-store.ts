/** The contract of the store of inbound hooks and their deliveries. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { Hook, ReceivedDelivery } from "../../src/stores/hooks/hook-store.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export function hookOf(fields: Partial<Hook> = {}): Hook {
  return {
    hookId: newId("hook"),
    projectId: newId("prj"),
    name: "code",
    kind: "github",
    proof: "signature",
    secret: "HOOK_KEY",
    enabled: true,
    perMinute: 600,
    createdAt: 10,
    createdBy: "ada",
    updatedAt: 10,
    version: 1,
    ...fields,
  };
}

export function receivedOf({ hookId, projectId }: Hook, fields: Partial<ReceivedDelivery> = {}): ReceivedDelivery {
  return {
    deliveryId: newId("hdl"),
    hookId,
    projectId,
    senderId: "d-1",
    event: "push",
    headers: [["x-github-event", "push"]],
    bytes: 2,
    sha256: "00",
    state: "owed",
    receivedAt: 10,
    dueAt: 10,
    failures: 0,
    error: "",
    events: [],
    verdicts: null,
    earlier: [],
    version: 1,
    ...fields,
  };
}

export function hookStoreContract(open: () => Stores): void {
  describe("hooks", () => {
    it("have one name each in their project, and change only from the version that was read", async () => {
      const { hooks } = open();
      const hook = hookOf();
      expect(await hooks.create(hook)).to.equal("created");
      expect(await hooks.create(hook), "a repeat").to.equal("created");
      const namesake = hookOf({ projectId: hook.projectId });
      expect(await hooks.create(namesake)).to.equal("nameTaken");
      const other = { ...namesake, name: "other" };
      expect(await hooks.create(other)).to.equal("created");
      expect(await hooks.list(hook.projectId)).to.deep.equal([hook, other]);
      const changed = { ...hook, enabled: false, version: 2 };
      expect(await hooks.save(changed)).to.equal("saved");
      expect(await hooks.save({ ...hook, name: "late", version: 2 })).to.equal("moved");
      expect(await hooks.save({ ...other, name: "code", version: 2 })).to.equal("nameTaken");
      expect(await hooks.find(hook.hookId)).to.deep.equal(changed);
      expect(await hooks.delete(hook.hookId)).to.equal(true);
      expect(await hooks.delete(hook.hookId)).to.equal(false);
      await hooks.deleteOfProject(hook.projectId);
      expect(await hooks.list(hook.projectId)).to.deep.equal([]);
      expect(await hooks.find(other.hookId)).to.equal(undefined);
    });

    it("take a delivery once for each id of its sender, also when it comes twice at the same time", async () => {
      const { hooks } = open();
      const hook = hookOf();
      const twice = [receivedOf(hook), receivedOf(hook)] as const;
      const taken = await Promise.all(twice.map((one) => hooks.take(one, '{"a":"\u{1F600}"}')));
      expect(taken[0]).to.deep.equal(taken[1]);
      const [{ deliveryId }] = taken as [ReceivedDelivery, ReceivedDelivery];
      expect(twice.map((one) => one.deliveryId)).to.include(deliveryId);
      expect(await hooks.bodyOf(deliveryId)).to.equal('{"a":"\u{1F600}"}');
      expect(await hooks.findDelivery(deliveryId)).to.deep.equal(taken[0]);
      const elsewhere = receivedOf(hookOf());
      expect(await hooks.take(elsewhere, null), "the same id at another hook").to.deep.equal(elsewhere);
      expect(await hooks.bodyOf(elsewhere.deliveryId)).to.equal(null);
      await hooks.removeDelivery(deliveryId);
      expect(await hooks.findDelivery(deliveryId)).to.equal(undefined);
    });

    it("give the owed deliveries that are due, the oldest first, until they are done", async () => {
      const { hooks } = open();
      const hook = hookOf();
      const [late, early, waiting, ended] = [
        receivedOf(hook, { senderId: "b", receivedAt: 12, dueAt: 12 }),
        receivedOf(hook, { senderId: "a", receivedAt: 11, dueAt: 11 }),
        receivedOf(hook, { senderId: "c", receivedAt: 9, dueAt: 90 }),
        receivedOf(hook, { senderId: "d", receivedAt: 8, dueAt: 20, state: "done" }),
      ] as const;
      for (const one of [late, early, waiting, ended]) await hooks.take(one, "{}");
      expect(await hooks.owing()).to.include(hook.hookId);
      expect(await hooks.due(hook.hookId, 50, 9)).to.deep.equal([early, late]);
      expect(await hooks.due(hook.hookId, 50, 1)).to.deep.equal([early]);
      const done = { ...early, state: "done", dueAt: 60, verdicts: [], version: 2 } as const;
      expect(await hooks.saveDelivery(done)).to.equal(true);
      expect(await hooks.saveDelivery(done), "a late save").to.equal(false);
      expect(await hooks.findDelivery(early.deliveryId)).to.deep.equal(done);
      expect(await hooks.due(hook.hookId, 50, 9)).to.deep.equal([late]);
      const newest = await hooks.listDeliveries(hook.hookId, {}, 2, undefined);
      expect(newest).to.deep.equal([late, done]);
      const place = { at: done.receivedAt, id: done.deliveryId };
      expect(await hooks.listDeliveries(hook.hookId, {}, 9, place)).to.deep.equal([waiting, ended]);
      expect(await hooks.listDeliveries(hook.hookId, { state: "done" }, 9, undefined)).to.deep.equal([done, ended]);
      const expired = (await hooks.expired(30, 1_000)).filter(({ hookId }) => hookId === hook.hookId);
      expect(expired).to.deep.equal([ended]);
      const ids = async (of: Parameters<typeof hooks.someDeliveries>[0]) =>
        (await hooks.someDeliveries(of, 9)).map(({ senderId }) => senderId).toSorted();
      expect(await ids({ hookId: hook.hookId })).to.deep.equal(["a", "b", "c", "d"]);
      expect(await ids({ projectId: hook.projectId })).to.deep.equal(["a", "b", "c", "d"]);
    });
  });
}
