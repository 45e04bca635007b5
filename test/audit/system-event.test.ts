import { expect } from "chai";
import { RECORDED_FIELDS } from "../../src/audit/entry.ts";
import { systemEventOf } from "../../src/audit/system-event.ts";
import { SYSTEM_EVENTS } from "../../src/domain/event-table/system-events.ts";
import { newId } from "../../src/domain/ids.ts";
import type { AuditEntry } from "../../src/stores/ports/audit.ts";

describe("the system event of an entry of the audit log", () => {
  const tenantId = newId("tnt");
  const entryOf = (operation: string, kind: string, fields: Partial<AuditEntry> = {}): AuditEntry => ({
    auditId: newId("aud"),
    at: 1_000,
    outcome: "done",
    operation,
    actor: { kind: "user", id: "usr_1", name: "ann", proof: "ses_1" },
    onBehalfOf: null,
    tenantId,
    projectId: null,
    object: { kind, id: "one", name: "One" },
    from: { door: "http", address: "10.0.0.1", userAgent: "test" },
    requestId: null,
    before: null,
    after: null,
    reason: null,
    leftOut: 0,
    ...fields,
  });
  const typeOf = (...args: Parameters<typeof entryOf>): string | null => {
    const event = systemEventOf(entryOf(...args));
    return event && `${event.log} ${event.object}.${event.lifecycle}`;
  };

  it("says what was done by whom, and has names of fields without their values", () => {
    const sides = { before: { name: "a", description: "a value" }, after: { name: "b", archived: true } };
    const entry = entryOf("changeProject", "project", { ...sides, projectId: newId("prj"), onBehalfOf: "bob" });
    expect(systemEventOf(entry)).to.deep.equal({
      log: tenantId,
      eventId: entry.auditId,
      object: "project",
      lifecycle: "updated",
      timeMs: 1_000,
      data: {
        id: "one",
        name: "One",
        projectId: entry.projectId,
        operation: "changeProject",
        by: "ann",
        actorKind: "user",
        actorId: "usr_1",
        onBehalfOf: "bob",
        changed: ["name", "description", "archived"],
      },
    });
  });

  it("is of the log of the installation where no tenant owns the object, and when a tenant comes or goes", () => {
    const [before, after] = [{ name: "t" }, { name: "t" }];
    expect(typeOf("pushPlugin", "plugin", { tenantId: null, after })).to.equal("installation plugin.created");
    expect(typeOf("createTenant", "tenant", { after })).to.equal("installation tenant.created");
    expect(typeOf("deleteTenant", "tenant", { before })).to.equal("installation tenant.deleted");
    expect(typeOf("changeTenant", "tenant", { before, after })).to.equal(`${tenantId} tenant.updated`);
  });

  it("has the word of the operation, also where the entry does not say what was there before", () => {
    const after = { name: "a" };
    expect(typeOf("registerAgent", "agent", { after })).to.equal(`${tenantId} agent.registered`);
    expect(typeOf("unregisterAgent", "agent")).to.equal(`${tenantId} agent.deleted`);
    expect(typeOf("login", "session", { after: { kind: "api" } })).to.equal(`${tenantId} session.started`);
    expect(typeOf("logOut", "session")).to.equal(`${tenantId} session.ended`);
    expect(typeOf("disableWebhook", "webhook", { before: { enabled: true }, after: { enabled: false } })).to.equal(
      `${tenantId} webhook.updated`,
    );
    expect(typeOf("deleteSecret", "secret")).to.equal(`${tenantId} secret.deleted`);
    expect(typeOf("changeShards", "installation", { before: { shards: 1 }, after: { shards: 2 } })).to.equal(
      `${tenantId} installation.updated`,
    );
  });

  it("is not there for a refusal, for what changes a run, and for what names no object", () => {
    expect(typeOf("createTenant", "tenant", { outcome: "refused", reason: "no" })).to.equal(null);
    for (const kind of ["run", "job", "step", "approval", "artifact", "cache", "upload", "delivery", "call"]) {
      expect(typeOf("any", kind, { after: {} }), kind).to.equal(null);
    }
    expect(typeOf("any", "project", { object: null })).to.equal(null);
    expect(typeOf("admitDevice", "session", { object: { kind: "session", id: "device", name: null } })).to.equal(null);
    expect(
      typeOf("issueIdToken", "installation", { object: { kind: "installation", id: "installation", name: null } }),
    ).to.equal(null);
  });

  it("is in the table of events for each kind of object that was made, changed or removed", () => {
    for (const kind of Object.keys(RECORDED_FIELDS)) {
      for (const sides of [{ after: { a: 1 } }, { before: { a: 1 }, after: { a: 2 } }, { before: { a: 1 } }, {}]) {
        const event = systemEventOf(entryOf("any", kind, sides));
        if (event !== null) expect(SYSTEM_EVENTS[event.object], kind).to.have.property(event.lifecycle);
      }
    }
  });
});
