/** The contract of the audit log. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { SystemEventDraft } from "../../src/domain/system-events.ts";
import type { AuditEntry, AuditFilter, AuditStore } from "../../src/stores/ports/audit.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import type { Tenant } from "../../src/stores/ports/rights.ts";

export function auditStoreContract(open: () => Stores): void {
  describe("the audit log", () => {
    const entryOf = (fields: Partial<AuditEntry> = {}): AuditEntry => ({
      auditId: newId("aud"),
      at: 1_000,
      outcome: "done",
      operation: "createTenant",
      actor: { kind: "user", id: newId("usr"), name: "ann", proof: null },
      onBehalfOf: null,
      tenantId: newId("tnt"),
      projectId: newId("prj"),
      object: { kind: "tenant", id: newId("tnt"), name: "one" },
      from: { door: "http", address: "10.0.0.1", userAgent: "test" },
      requestId: "r1",
      before: null,
      after: { name: "one", labels: ["a"], archived: false, count: 1 },
      reason: null,
      leftOut: 0,
      ...fields,
    });
    const all = async (audit: AuditStore, filter: AuditFilter, descending = true) => {
      const found: AuditEntry[] = [];
      for (;;) {
        const last = found.at(-1);
        const after = last && { at: last.at, id: last.auditId };
        const page = await audit.page(filter, { limit: 2, descending, after });
        found.push(...page);
        if (page.length < 2) return found;
      }
    };
    const tenantOf = (): Tenant => {
      const tenantId = newId("tnt");
      return { tenantId, name: tenantId, createdAt: 1, archivedAt: null };
    };

    it("finds entries by each filter and by several, in both directions, page by page", async () => {
      const { audit } = open();
      const one = entryOf({ operation: `op-${newId("aud")}` });
      const shared = { tenantId: one.tenantId, operation: one.operation };
      const later = entryOf({ ...shared, at: 1_001, outcome: "refused", reason: "no" });
      const sameTime = entryOf({ ...shared, at: 1_001, actor: { ...one.actor, id: null } });
      const latest = entryOf({ ...shared, at: 1_002, projectId: null, object: null });
      for (const entry of [one, later, sameTime, latest, one]) await audit.append(entry);
      const inOrder = [one, ...[later, sameTime].toSorted((a, b) => (a.auditId < b.auditId ? -1 : 1)), latest];
      const { operation } = one;
      const tenant = { area: { tenantId: one.tenantId! } };
      expect(await all(audit, tenant)).to.deep.equal(inOrder.toReversed());
      expect(await all(audit, tenant, false)).to.deep.equal(inOrder);
      expect(await all(audit, { area: "installation", operation })).to.deep.equal(inOrder.toReversed());
      expect(await all(audit, { area: "tenants", operation, since: 1_001, until: 1_002 }, false)).to.deep.equal(
        inOrder.slice(1, 3),
      );
      const found = async (filter: AuditFilter) => (await all(audit, filter)).map(({ auditId }) => auditId);
      expect(await found({ area: { projectId: one.projectId! } })).to.deep.equal([one.auditId]);
      expect(await found({ ...tenant, projectId: one.projectId! })).to.deep.equal([one.auditId]);
      expect(await found({ area: { projectId: one.projectId! }, projectId: later.projectId! })).to.deep.equal([]);
      expect(await found({ ...tenant, actorId: later.actor.id! })).to.deep.equal([later.auditId]);
      expect(await found({ ...tenant, objectId: one.object!.id, operation })).to.deep.equal([one.auditId]);
      expect(await found({ area: "installation", objectId: one.object!.id, actorId: "none" })).to.deep.equal([]);
      expect(await found({ ...tenant, outcome: "refused" })).to.deep.equal([later.auditId]);
      expect(await found({ area: "installation", outcome: "refused", operation })).to.deep.equal([later.auditId]);
      expect(await found({ ...tenant, outcome: "done", since: 1_002 })).to.deep.equal([latest.auditId]);
    });

    it("shows what belongs to the installation only to who asks for the installation", async () => {
      const { audit } = open();
      const entry = entryOf({ tenantId: null, projectId: null });
      await audit.append(entry);
      const actorId = entry.actor.id!;
      expect(await all(audit, { area: "installation", actorId })).to.deep.equal([entry]);
      expect(await all(audit, { area: "tenants", actorId })).to.deep.equal([]);
    });

    it("stores an entry with the change, or leaves it to the caller, and never for a change that fails", async () => {
      const { audit, rights } = open();
      const [tenant, taken] = [tenantOf(), tenantOf()];
      const [first, second] = [entryOf(), entryOf()];
      const isStored = async ({ actor }: AuditEntry) =>
        (await all(audit, { area: "installation", actorId: actor.id! })).length === 1;
      const { result, stored } = await audit.appendWith(first, () => rights.createTenant(tenant));
      expect(result).to.equal("created");
      expect(await isStored(first)).to.equal(stored);
      const refused = await audit.appendWith(second, () => rights.createTenant({ ...taken, name: tenant.name }));
      expect(refused).to.deep.equal({ result: "nameTaken", stored: false });
      const failure = await audit.appendWith(second, () => Promise.reject(new Error("no"))).catch(String);
      expect(failure).to.equal("Error: no");
      // A write that no entry belongs to takes none along.
      await rights.createTenant(taken);
      expect(await isStored(second)).to.equal(false);
    });

    it("puts the event of an entry into its log once, with the change where the engine can", async () => {
      const { audit, rights, systemEvents } = open();
      const log = newId("tnt");
      const eventOf = ({ auditId, at }: AuditEntry): SystemEventDraft => {
        return { log, eventId: auditId, object: "tenant", lifecycle: "created", timeMs: at, data: { id: "one" } };
      };
      const [one, other, failing] = [entryOf(), entryOf(), entryOf()];
      for (let n = 0; n < 2; n++) await audit.append(one, eventOf(one));
      const tenant = tenantOf();
      const { stored } = await audit.appendWith(other, () => rights.createTenant(tenant), eventOf(other));
      if (!stored) await audit.append(other, eventOf(other));
      await audit.appendWith(
        failing,
        () => rights.createTenant({ ...tenantOf(), name: tenant.name }),
        eventOf(failing),
      );
      const told = await systemEvents.read(log, 0, 10);
      expect(told).to.deep.equal([one, other].map((entry, at) => ({ ...eventOf(entry), number: at + 1 })));
      expect(await audit.settleEvents(10), "nothing is owed").to.equal(0);
    });

    it("forgets by age, a bounded number at once", async () => {
      const { audit } = open();
      const operation = `op-${newId("aud")}`;
      const ages = [-30, -20, -20, -10];
      for (const at of ages) await audit.append(entryOf({ at, operation }));
      expect(await audit.forget(-10, 2)).to.equal(2);
      expect(await audit.forget(-10, 10)).to.equal(1);
      expect(await audit.forget(-10, 10)).to.equal(0);
      expect((await all(audit, { area: "installation", operation })).map(({ at }) => at)).to.deep.equal([-10]);
    });
  });
}
