/**
 * What calls leave in the audit log: each call that changes something exactly one entry, whatever its door, and no call a
 * secret. The rows are those of the table of operations.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { GRPC_METHODS, GRPC_ROWS, GrpcCaller } from "./grpc-rows.ts";
import type { HttpRow } from "./http-row.ts";
import { HTTP_ROWS } from "./http-rows.ts";
import { callersOf } from "./callers.ts";
import { EVENTS_OF_ROUTES, ROUTES_OF_KIND, UNCHANGING } from "./audit-objects.ts";
import { systemEventOf } from "../../src/audit/system-event.ts";
import type { SystemEvent } from "../../src/domain/system-events.ts";
import { systemEventProblem } from "../support/event-check.ts";
import { requireDescribed, World } from "./world.ts";
import { RECORDED_METHODS } from "../../src/grpc/audit.ts";
import { SESSION_ROUTES } from "../../src/http/login/login-routes.ts";
import { API_ROUTES } from "../../src/http/routes/all.ts";
import type { AuditEntry } from "../../src/stores/ports/audit.ts";

const SECRETS = /a new password|a long value|another value|mrt_tok_\w{26}_|mrl_|argon2|"x"/;
/** A deletion that is refused because of the tenant's projects archives the tenant. */
const CHANGES_WHEN_REFUSED = "DELETE /tenants/:tenantId";
const ID_PREFIX: Readonly<Record<string, RegExp>> = {
  project: /^prj_/,
  pipeline: /^pl_/,
  run: /^run_/,
  job: /^job_/,
  user: /^usr_/,
  token: /^tok_/,
  agent: /^agt_/,
  upload: /^upl_/,
  tenant: /^tnt_/,
  team: /^team_/,
  artifact: /^art_/,
  cache: /^cch_/,
  approval: /^apr_/,
};
const STEPS = [{ name: "s", uses: "shell", args: { script: "true" } }];
/** A save of what is saved already changes nothing. */
const specs = (name: string) => ({ spec: { jobs: [{ name, steps: STEPS }] } });

describe("the audit log", function () {
  this.timeout(120_000);
  let world: World;
  let calls = 0;
  before(async () => void (world = await World.open()));
  after(() => world.close());

  const newest = (limit = 20): Promise<readonly AuditEntry[]> =>
    world.context.stores.audit.page({ area: "installation" }, { limit, descending: true });
  const send = async (method: string, path: string, token: string, body?: object, requestId = `walk-${++calls}`) => {
    const response = await fetch(`http://${world.node.http}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "x-request-id": requestId,
        "user-agent": "walker/1.0",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    requireDescribed(method, path, response, text);
    const entries = (await newest()).filter((entry) => entry.requestId === requestId);
    return { status: response.status, text, entries };
  };
  const sendRow = (row: HttpRow, token: string) => {
    const [method, pattern] = row.route.split(" ") as [string, string];
    const values = row.at?.(world) ?? {};
    const path = pattern.replaceAll(/[:*](\w+)/g, (_, name: string) => values[name]!) + (row.query ?? "");
    return send(method, path, token, path.endsWith("/spec/save") ? specs(`job-${calls}`) : row.body?.(world));
  };

  /** The system event of an entry, which is in its log and as the table of events says; null for none. */
  const toldOf = async (entry: AuditEntry): Promise<SystemEvent | null> => {
    const draft = systemEventOf(entry);
    if (draft === null) return null;
    const { systemEvents } = world.context.stores;
    const newestOfLog = await systemEvents.read(draft.log, (await systemEvents.newest(draft.log)) - 1, 1);
    expect(newestOfLog, JSON.stringify(entry)).to.have.length(1);
    const [event] = newestOfLog as [SystemEvent];
    expect(event.eventId).to.equal(entry.auditId);
    expect(systemEventProblem(event)).to.equal(undefined);
    expect(JSON.stringify(event)).to.not.match(SECRETS);
    return event;
  };

  it("has exactly one entry for each call over HTTP that changes something, and none for any other", async () => {
    const unchanged: string[] = [];
    const toldBy: Record<string, string> = {};
    const kindOf = new Map(
      Object.entries(ROUTES_OF_KIND).flatMap(([kind, routes]) => routes.map((one) => [one, kind])),
    );
    for (const row of HTTP_ROWS) {
      const [method, path] = row.route.split(" ");
      const route = [...API_ROUTES, ...SESSION_ROUTES].find((one) => one.method === method && one.path === path);
      if (route === undefined || row.route === "GET /audit/export") continue;
      await row.prepare?.(world);
      const { status: code, text, entries } = await sendRow(row, world.node.adminToken!);
      const told = `${row.route}: ${code} ${text.slice(0, 300)} ${JSON.stringify(entries)}`;
      if (!route.isRecorded || code >= 400 || text.includes('"deleted":0')) {
        // An order to a run is recorded when it is stored, and the run may refuse it afterwards.
        const isOrder = /\/(?:cancel|pause|resume|approve|reject)$/.test(row.route) && code === 409;
        const isRefused = code === 403;
        if (isRefused)
          expect(
            entries.map(({ outcome }) => outcome),
            told,
          ).to.deep.equal(["refused"]);
        else if (isOrder) expect(entries.length, told).to.be.at.most(1);
        else expect(entries, told).to.have.length(row.route === CHANGES_WHEN_REFUSED ? 1 : 0);
        if (route.isRecorded) unchanged.push(row.route);
        continue;
      }
      expect(entries, told).to.have.length(1);
      const [{ operation, actor, from, object, outcome }] = entries as [AuditEntry];
      expect({ operation, outcome, door: from.door, userAgent: from.userAgent }, told).to.deep.equal({
        operation: route.name,
        outcome: "done",
        door: "http",
        userAgent: "walker/1.0",
      });
      expect(actor, told).to.include({ kind: "user", name: "admin" });
      expect(from.address, told).to.equal("127.0.0.1");
      expect(object?.id, told).to.match(/./);
      expect(object?.kind, told).to.equal(kindOf.get(row.route));
      // The ids of objects begin with their kind, but for what an id of its owner names.
      const prefix = ID_PREFIX[object!.kind];
      if (prefix !== undefined) expect(object?.id, told).to.match(prefix);
      const event = await toldOf(entries[0]!);
      if (event !== null) toldBy[row.route] = `${event.object}.${event.lifecycle}`;
    }
    expect(toldBy).to.deep.equal(EVENTS_OF_ROUTES);
    expect(unchanged, "the rows that change nothing").to.have.members(Object.keys(UNCHANGING));
  });

  it("says what a drain and a reset link have changed, and has no entry for a repeated drain", async () => {
    await world.keepAgent();
    const { agentId, victim } = world;
    const drain = () => send("POST", `/agents/${agentId}/drain`, world.node.adminToken!, { reason: "a new disk" });
    const [drained] = (await drain()).entries;
    expect(drained).to.deep.include({
      object: { kind: "agent", id: agentId, name: agentId },
      before: { drained: false, reason: null },
      after: { drained: true, reason: "a new disk" },
    });
    const again = await drain();
    expect([again.status, again.entries]).to.deep.equal([200, []]);
    const [undrained] = (await send("POST", `/agents/${agentId}/undrain`, world.node.adminToken!)).entries;
    expect(undrained).to.deep.include({ after: { drained: false, reason: null } });
    const { entries, text } = await send("POST", `/users/${victim}/reset-link`, world.node.adminToken!, {});
    const { expiresAt } = JSON.parse(text).detail;
    expect(entries[0]).to.deep.include({
      object: { kind: "link", id: victim, name: victim },
      after: { purpose: "reset", expiresAt },
    });
  });

  it("has exactly one entry for each call over gRPC that changes something", async () => {
    const grpc = new GrpcCaller(world.node.grpc!);
    const recorded = new Set<string>();
    try {
      for (const row of GRPC_ROWS.filter(({ operation }) => operation !== "agents")) {
        const before = new Set((await newest()).map(({ auditId }) => auditId));
        const request = row.method.endsWith("saveSpec")
          ? (at: World) => ({ ...row.request!(at), ...specs("other") })
          : row.request;
        const { code, text } = await grpc.call({ ...row, ...(request && { request }) }, world.node.adminToken!, world);
        const entries = (await newest()).filter(({ auditId }) => !before.has(auditId));
        const operation = RECORDED_METHODS.get(GRPC_METHODS.get(row.method)!.path);
        const told = `${row.method}: ${status[code]} ${text.slice(0, 300)} ${JSON.stringify(entries)}`;
        if (operation === undefined || code !== status.OK) {
          // An order is recorded when it is stored, and the run may refuse it afterwards.
          expect(entries.length, told).to.be.at.most(operation === undefined ? 0 : 1);
          continue;
        }
        expect(
          entries.map((entry) => entry.operation),
          told,
        ).to.deep.equal([operation]);
        expect(entries[0]!.from, told).to.include({ door: "grpc", address: "127.0.0.1" });
        recorded.add(operation);
      }
    } finally {
      grpc.close();
    }
    expect([...recorded]).to.include.members(["createPipeline", "updatePipeline", "triggerRun", "createStepRun"]);
  });

  it("knows every method of gRPC: those that read have names that say so", () => {
    const reading =
      /^(?:Get|List|Find|Search|Diff|Stream|Validate|Plan|Check|Discover|Pull|IsActive|Heartbeat|FetchStepRun|Connect|AgentChannel|ReportStepRunStatus|Push)/;
    const others = [...GRPC_METHODS.values()].map(({ path }) => path).filter((path) => !RECORDED_METHODS.has(path));
    // An agent's word on a step that it holds is part of the run's history, and so is the digest of its image.
    const ofSteps = ["/agent.v1.Agent/CancelStepRun", "/gateway.v1.Gateway/PinImage"];
    expect(others.filter((path) => !reading.test(path.split("/")[2]!))).to.have.members(ofSteps);
  });

  it("never holds a secret, a token or a password", async () => {
    const all = await newest(10_000);
    expect(all.length).to.be.above(60);
    for (const entry of all) expect(JSON.stringify(entry)).to.not.match(SECRETS);
  });

  it("has an entry for a refusal, and bounds them", async () => {
    const callers = await callersOf(world);
    const viewer = callers.find((one) => one.inInstallation === null && one.inProject === "viewer")!;
    const { status: code, entries } = await send("PATCH", `/projects/${world.projectId}`, viewer.token, {
      description: "x",
    });
    expect(code).to.equal(403);
    const [entry] = entries as [AuditEntry];
    expect(entries).to.have.length(1);
    expect(entry).to.deep.include({ outcome: "refused", operation: "changeProject", before: null, after: null });
    expect(entry.projectId).to.equal(world.projectId);
    expect(entry.tenantId).to.equal(world.tenantId);
    expect(entry.reason).to.include("needs the role admin");
    let stored = 0;
    for (let n = 0; n < 30; n++) {
      stored += (await send("POST", "/tenants", viewer.token, { name: `t${n}` })).entries.length;
    }
    expect(stored).to.be.below(25);
  });

  it("has an entry for each login, and for a wrong one without what was typed", async () => {
    const name = `audited-${++calls}`;
    await send("POST", "/users", world.node.adminToken!, { name, role: "viewer", password: "a right password" });
    const login = (user: string, password: string) => send("POST", "/auth/login", "none", { name: user, password });
    const right = (await login(name, "a right password")).entries as [AuditEntry];
    expect(right).to.have.length(1);
    expect(right[0]).to.deep.include({ outcome: "done", operation: "login", after: { kind: "api" } });
    expect(right[0].actor).to.include({ kind: "user", name });
    const wrong = (await login(name, "a wrong password")).entries as [AuditEntry];
    expect(wrong[0]).to.deep.include({ outcome: "refused", operation: "login" });
    expect(wrong[0].actor).to.include({ kind: "anonymous", id: null });
    expect(wrong[0].object).to.include({ kind: "user", name });
    const mixed = (await login("my secret password", "x-y-z")).entries as [AuditEntry];
    expect(mixed).to.have.length(1);
    expect(JSON.stringify([...wrong, ...mixed])).to.not.match(/a wrong password|my secret password|x-y-z/);
  });

  it("answers 503 when the change was made and its entry could not be stored", async () => {
    await world.keepAgent();
    const { audit, identity } = world.context.stores;
    const { append, appendWith } = audit;
    // As an engine that does not store the entry in the transaction of the change.
    Object.assign(audit, {
      append: () => Promise.reject(new Error("the disk is full")),
      appendWith: async (_: AuditEntry, write: () => Promise<unknown>) => ({ result: await write(), stored: false }),
    });
    try {
      const path = `/agents/${world.agentId}/drain`;
      const { status: code, text } = await send("POST", path, world.node.adminToken!, { reason: "r" });
      expect(code).to.equal(503);
      expect(text).to.include("the change was made, but its entry in the audit log could not be stored");
      expect((await identity.findAgent(world.agentId))!.drain).to.include({ reason: "r" });
      const refused = await send("POST", path, (await callersOf(world)).at(-1)!.token, {});
      expect(refused.status, "a refusal stays a refusal").to.equal(404);
    } finally {
      Object.assign(audit, { append, appendWith });
    }
    expect((await send("POST", `/agents/${world.agentId}/undrain`, world.node.adminToken!, {})).entries).to.have.length(
      1,
    );
  });

  it("keeps the name of a user who was removed, and names on whose behalf a caller acted", async () => {
    const user = JSON.parse(
      (await send("POST", "/users", world.node.adminToken!, { name: "gone", role: "owner" })).text,
    );
    const { userId } = user.detail;
    const made = await send("POST", `/users/${userId}/tokens`, world.node.adminToken!, {
      name: "t",
      scopes: ["act-as"],
    });
    const { token } = JSON.parse(made.text).detail;
    const { entries } = await send("POST", "/pipelines", token, { name: `p${++calls}`, createdBy: "another user" });
    expect(entries[0]).to.deep.include({ onBehalfOf: "another user" });
    await send("PATCH", `/users/${userId}`, world.node.adminToken!, { name: "renamed" });
    await send("DELETE", `/users/${userId}`, world.node.adminToken!);
    const { list } = JSON.parse((await send("GET", `/audit?actor=${userId}`, world.node.adminToken!)).text).detail;
    expect(list).to.have.length(1);
    expect(list[0].actor).to.include({ id: userId, name: "gone" });
  });

  it("keeps control characters of a caller out of its lines", async () => {
    const [host, port] = world.node.http!.split(":") as [string, string];
    const socket = connect(Number(port), host);
    const body = JSON.stringify({ name: "Injected\n\u202e" });
    const agent = Buffer.from("evil\t\x9b31m", "latin1");
    for (const [text, id] of [
      [body, "inject-1"],
      [JSON.stringify({ name: "Plain" }), "inject-2"],
    ] as const) {
      socket.write(
        `POST /api/v1/tenants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.node.adminToken}\r\n` +
          `x-request-id: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nUser-Agent: `,
      );
      socket.write(Buffer.concat([agent, Buffer.from(`\r\n\r\n${text}`)]));
      await once(socket, "data");
    }
    socket.destroy();
    const entries = (await newest()).filter(({ requestId }) => requestId?.startsWith("inject-"));
    // A name with a line break is refused before anything is recorded.
    expect(entries.map(({ requestId }) => requestId)).to.deep.equal(["inject-2"]);
    expect(entries[0]!.from.userAgent).to.equal("evil\ufffd\ufffd31m");
  });

  it("is read by filters and cursors, and exported as one JSON text a line", async () => {
    const read = async (query: string) => {
      const { status: code, text } = await send("GET", `/audit${query}`, world.node.adminToken!);
      expect(code, text).to.equal(200);
      return JSON.parse(text).detail as { list: { auditId: string; operation: string }[]; next: string | null };
    };
    const operations = await read("?operation=createTenant&limit=100");
    expect(operations.list.length).to.be.above(1);
    expect(operations.list.every(({ operation }) => operation === "createTenant")).to.equal(true);
    const pages: string[] = [];
    for (let next: string | null = ""; next !== null;) {
      const page = await read(`?limit=7${next === "" ? "" : `&after=${next}`}`);
      pages.push(...page.list.map(({ auditId }) => auditId));
      next = page.next;
    }
    expect(new Set(pages).size).to.equal(pages.length).and.above(60);
    const response = await fetch(`http://${world.node.http}/api/v1/audit/export`, {
      headers: { authorization: `Bearer ${world.node.adminToken}` },
    });
    expect(response.headers.get("content-type")).to.equal("application/x-ndjson");
    const lines = (await response.text()).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).auditId)).to.deep.equal(pages.toReversed());
    for (const query of ["?limit=0", "?limit=101", "?since=yesterday", "?after=x", "?outcome=maybe", "?unknown=1"]) {
      expect((await send("GET", `/audit${query}`, world.node.adminToken!)).status, query).to.equal(400);
    }
  });

  it("shows each reader only what the reader administers", async () => {
    const readers = (await callersOf(world)).filter(({ scopes }) => scopes.length === 0);
    for (const caller of readers) {
      const { status: code, text } = await send("GET", "/audit?limit=100", caller.token);
      if (code === 403) continue;
      expect(code, caller.label).to.equal(200);
      const list = JSON.parse(text).detail.list as AuditEntry[];
      const inTenant = ["owner", "admin"].includes(caller.inTenant ?? "");
      for (const { projectId, tenantId } of list) {
        const isSeen =
          caller.inInstallation === "owner" ||
          (caller.inInstallation === "admin" && tenantId !== null) ||
          (inTenant && tenantId === world.tenantId) ||
          (["owner", "admin"].includes(caller.inProject ?? "") && projectId === world.projectId);
        expect(isSeen, `${caller.label} sees ${tenantId}/${projectId}`).to.equal(true);
      }
    }
  });
});
