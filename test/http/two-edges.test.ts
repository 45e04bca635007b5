/** Conditional changes through two edges that have the same store: each compares in the statement of the store that changes. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { Registry } from "prom-client";
import { asId, newId, type PipelineId } from "../../src/domain/ids.ts";
import { createHttpServer } from "../../src/http/server/server.ts";
import { API_ROUTES } from "../../src/http/routes/all.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

/** Changes of the store that wait, at the second edge, until the first edge has answered. */
const HELD = /^(update|change|rename|bind$|replace|save)/;

describe("conditional changes through two edges", () => {
  let edge: TestEdge;
  let second: Server;
  let origin: string;
  /** Told when a change arrives at the store of the second edge; the change waits for what it answers. */
  let onChange: (() => Promise<void>) | undefined;
  before(async () => {
    edge = await openTestEdge();
    const holding = <T extends object>(store: T): T =>
      new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          return async (...args: readonly unknown[]): Promise<unknown> => {
            if (HELD.test(String(name))) await onChange?.();
            return Reflect.apply(member, target, args) as unknown;
          };
        },
      });
    const { pipelines, rights, identity, documents } = edge.context.stores;
    const stores = {
      ...edge.context.stores,
      pipelines: holding(pipelines),
      rights: holding(rights),
      identity: holding(identity),
      documents: holding(documents),
    };
    const secrets = holding(edge.context.secrets);
    const context = { ...edge.context, stores, secrets };
    ({ server: second } = createHttpServer(context, { registry: new Registry(), readiness: {} }));
    second.listen(0, "127.0.0.1");
    await once(second, "listening");
    origin = `http://127.0.0.1:${(second.address() as AddressInfo).port}`;
  });
  after(async () => {
    second.closeAllConnections();
    second.close();
    await edge.close();
  });

  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    edge.call(method, `/api/v1${path}`, { headers, ...(body === undefined ? {} : { body }) });
  const atSecond = async (method: string, path: string, body: unknown, tag: string) => {
    const headers = {
      Authorization: `Bearer ${edge.adminToken}`,
      "Content-Type": "application/json",
      "If-Match": tag,
    };
    const answer = await fetch(`${origin}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as { readonly reason?: string } };
  };

  const spec = (name: string) => ({
    spec: { jobs: [{ name, steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] },
  });
  const CASES: Readonly<
    Record<
      string,
      {
        /** Makes an object, and answers its path. */
        readonly make: () => Promise<string>;
        readonly method: string;
        /** Where it is changed; default: where it is read. */
        readonly to?: (path: string) => string;
        /** Makes the first change; default: a call of the first edge. */
        readonly first?: (path: string) => Promise<number>;
        /** The bodies of the two changes. */
        readonly bodies: readonly [object, object];
      }
    >
  > = {
    "a pipeline": {
      make: async () =>
        `/pipelines/${(await call("POST", "/pipelines", { name: newId("pl") })).body.detail.pipelineId}`,
      method: "PUT",
      bodies: [{ description: "first" }, { description: "second" }],
    },
    "a definition": {
      async make() {
        const { pipelineId } = (await call("POST", "/pipelines", { name: newId("pl") })).body.detail;
        await call("POST", `/pipelines/${pipelineId}/spec/save`, spec("zero"));
        return `/pipelines/${pipelineId}/spec`;
      },
      method: "POST",
      to: (path) => `${path}/save`,
      // In one process, saves of one pipeline take turns: the other edge is played by the store.
      async first(path) {
        const pipelineId = asId<PipelineId>(path.split("/")[2]!);
        const { pipelines } = edge.context.stores;
        const { headRevisionId } = (await pipelines.find(pipelineId))!;
        const revision = (await pipelines.findRevision(headRevisionId!))!;
        await pipelines.saveRevision({ ...revision, revisionId: newId("rev") }, headRevisionId);
        return 200;
      },
      bodies: [spec("first"), spec("second")],
    },
    "a project": {
      make: async () => `/projects/${(await call("POST", "/projects", { name: newId("prj") })).body.detail.projectId}`,
      method: "PATCH",
      bodies: [{ description: "first" }, { description: "second" }],
    },
    "the retention of a project": {
      make: () => Promise.resolve("/projects/default/retention"),
      method: "PUT",
      bodies: [{ runs: { perPipeline: 1 } }, { runs: { perPipeline: 2 } }],
    },
    "the log limit of a project": {
      make: () => Promise.resolve("/projects/default/log-limit"),
      method: "PUT",
      bodies: [{ lines: 1_000 }, { lines: 2_000 }],
    },
    "the trust demand of a project": {
      make: () => Promise.resolve("/projects/default/trust-demand"),
      method: "PUT",
      bodies: [{ secrets: true }, { protectedTargets: true }],
    },
    "the settings of a project": {
      make: () => Promise.resolve("/projects/default/settings"),
      method: "PUT",
      bodies: [{ values: { "log.lines": 5_000, "jobs.api": "read" } }, { values: { "log.lines": 6_000 } }],
    },
    "the settings of the installation": {
      make: () => Promise.resolve("/settings"),
      method: "PUT",
      bodies: [{ values: { "jobs.api": "read" } }, { values: { "jobs.api": "trigger" } }],
    },
    "a variable": {
      async make() {
        await call("PUT", "/projects/default/variables/PLACE", { value: "zero" });
        return "/projects/default/variables/PLACE";
      },
      method: "PUT",
      bodies: [{ value: "first" }, { value: "second" }],
    },
    "a secret": {
      async make() {
        await call("POST", "/projects/default/secrets", { name: "KEY", value: "number zero" });
        return "/projects/default/secrets/KEY";
      },
      method: "PUT",
      bodies: [{ value: "number one" }, { value: "number two" }],
    },
    "a tenant": {
      make: async () => `/tenants/${(await call("POST", "/tenants", { name: newId("tnt") })).body.detail.tenantId}`,
      method: "PATCH",
      bodies: [{ name: "first" }, { name: "second" }],
    },
    "a team": {
      make: async () =>
        `/tenants/default/teams/${(await call("POST", "/tenants/default/teams", { name: "zero" })).body.detail.teamId}`,
      method: "PATCH",
      bodies: [{ name: "first" }, { name: "second" }],
    },
    "the role of a member": {
      async make() {
        const { name } = await edge.userWithRole("viewer");
        await call("PUT", `/projects/default/members/${name}`, { role: "viewer" });
        return `/projects/default/members/${name}`;
      },
      method: "PUT",
      bodies: [{ role: "operator" }, { role: "maintainer" }],
    },
    "a user": {
      make: async () =>
        `/users/${(await call("POST", "/users", { name: newId("usr"), role: "viewer" })).body.detail.userId}`,
      method: "PATCH",
      bodies: [{ role: "operator" }, { role: "maintainer" }],
    },
    "the labels of an agent": {
      async make() {
        const agentId = newId("agt");
        const agent = { agentId, name: agentId, labels: {}, slots: 1, version: "1", createdAt: 1 };
        await edge.context.stores.identity.putAgent(agent);
        return `/agents/${agentId}`;
      },
      method: "PUT",
      to: (path) => `${path}/labels`,
      bodies: [{ labels: { os: "first" } }, { labels: { os: "second" } }],
    },
  };

  for (const [what, { make, method, to = (path: string) => path, bodies }] of Object.entries(CASES)) {
    const { first: firstChange } = CASES[what]!;
    it(`of ${what} are refused when another edge has changed it since, also at the last moment`, async () => {
      const path = await make();
      const tag = (await call("GET", path)).headers.get("etag")!;
      expect(tag, "the tag").to.be.a("string");
      let first: Promise<number> | undefined;
      onChange = async () => {
        first ??=
          firstChange?.(path) ?? call(method, to(path), bodies[0], { "If-Match": tag }).then(({ status }) => status);
        await first;
      };
      const late = await atSecond(method, to(path), bodies[1], tag);
      onChange = undefined;
      expect(await first, "the first edge").to.equal(200);
      expect([late.status, late.body.reason], "the second edge").to.deep.equal([412, "precondition_failed"]);
      const now = (await call("GET", path)).headers.get("etag")!;
      expect((await call(method, to(path), bodies[1], { "If-Match": tag })).status, "the old tag").to.equal(412);
      expect((await call("GET", path)).headers.get("etag"), "after the refusals").to.equal(now);
      expect((await atSecond(method, to(path), bodies[1], now)).status, "the new tag").to.equal(200);
    });
  }

  it("are possible for every route that changes an object as a whole", () => {
    const others = {
      "/tenants/:tenantId/teams/:teamId/members/:member": "a repeat of it changes nothing",
      "/projects/:projectId/uploads/:uploadId/content": "Upload-Offset says what the caller expects",
    };
    const without = API_ROUTES.filter(({ method, isConditional }) => /^P(UT|ATCH)$/.test(method) && !isConditional);
    expect(without.map(({ path }) => path)).to.have.members(Object.keys(others));
  });
});
