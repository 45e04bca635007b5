/** What every call over HTTP may rely on: entity tags, compression, origins, limits, keys and refusals. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { readNodeConfig } from "../../src/settings/config.ts";
import { currentRateLimits } from "../../src/app/current-rate-limits.ts";
import { PolledSettings } from "../../src/app/polled-settings.ts";
import { CallCounter } from "../../src/http/manners/rate-limits.ts";
import { SESSION_ROUTES } from "../../src/http/login/login-routes.ts";
import { API_ROUTES } from "../../src/http/routes/all.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const PAGE = "https://ci.example.com";

describe("calls over HTTP", () => {
  let edge: TestEdge;
  let made = 0;
  before(async () => {
    edge = await openTestEdge({ origins: [PAGE] });
  });
  after(() => edge.close());

  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    edge.call(method, `/api/v1${path}`, { headers, ...(body === undefined ? {} : { body }) });
  const newPipeline = async () => {
    const { body } = await call("POST", "/pipelines", { name: `polite ${++made}` });
    return `/pipelines/${body.detail.pipelineId}`;
  };

  describe("with entity tags", () => {
    it("are answered 304 without a body while the object is the same", async () => {
      const path = await newPipeline();
      const read = await call("GET", path);
      const tag = read.headers.get("etag")!;
      expect(tag).to.match(/^"[\w-]+\.[\w-]+"$/);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const again = await call("GET", path, undefined, { "If-None-Match": known });
        expect([again.status, again.body, again.headers.get("etag")]).to.deep.equal([304, undefined, tag]);
      }
      const changed = await call("PUT", path, { description: "new" });
      const read2 = await call("GET", path, undefined, { "If-None-Match": tag });
      expect([read2.status, read2.headers.get("etag")]).to.deep.equal([200, changed.headers.get("etag")]);
    });

    it("change an object only while it is the one that was read", async () => {
      const path = await newPipeline();
      const tag = (await call("GET", path)).headers.get("etag")!;
      const first = await call("PUT", path, { description: "first" }, { "If-Match": tag });
      expect(first.status).to.equal(200);
      const late = await call("PUT", path, { description: "late" }, { "If-Match": tag });
      expect([late.status, late.body.reason]).to.deep.equal([412, "precondition_failed"]);
      expect(late.body.errMsg).to.include(first.headers.get("etag")!);
      expect((await call("DELETE", path, undefined, { "If-Match": tag })).status).to.equal(412);
      expect((await call("GET", path)).body.detail.description).to.equal("first");
      expect((await call("PUT", path, { description: "any" }, { "If-Match": "*" })).status).to.equal(200);
    });

    it("let one of two simultaneous changes win", async () => {
      const path = await newPipeline();
      const tag = (await call("GET", path)).headers.get("etag")!;
      const answers = await Promise.all(
        ["a", "b", "c"].map((description) => call("PUT", path, { description }, { "If-Match": tag })),
      );
      expect(answers.map(({ status }) => status)).to.have.members([200, 412, 412]);
    });

    it("allow a change of a pipeline of which a run has begun since, for which a reader gets the new state", async () => {
      const path = await newPipeline();
      const spec = { jobs: [{ name: "job", steps: [{ name: "step", uses: "shell", args: { script: "true" } }] }] };
      await call("POST", `${path}/spec/save`, { spec });
      const tag = (await call("GET", path)).headers.get("etag")!;
      await call("POST", `${path}/trigger`, {});
      expect((await call("GET", path, undefined, { "If-None-Match": tag })).status).to.equal(200);
      expect((await call("PUT", path, { description: "busy" }, { "If-Match": tag })).status).to.equal(200);
    });

    it("exist for definitions, projects, users and the rules of a project", async () => {
      const path = await newPipeline();
      const spec = { jobs: [{ name: "job", steps: [{ name: "step", uses: "shell", args: { script: "true" } }] }] };
      await call("POST", `${path}/spec/save`, { spec });
      for (const target of [
        `${path}/spec`,
        "/projects/default",
        "/users/me",
        "/projects/default/retention",
        "/projects/default/log-limit",
        "/projects/default/trust-demand",
      ]) {
        const tag = (await call("GET", target)).headers.get("etag");
        expect(tag, target).to.be.a("string");
        expect((await call("GET", target, undefined, { "If-None-Match": tag! })).status, target).to.equal(304);
      }
      for (const [method, target, body] of [
        ["PATCH", "/projects/default", { description: "x" }],
        ["PATCH", "/users/me", { disabled: false }],
        ["PUT", "/projects/default/retention", {}],
        ["PUT", "/projects/default/log-limit", {}],
        ["PUT", "/projects/default/trust-demand", {}],
      ] as const) {
        expect((await call(method, target, body, { "If-Match": '"stale.stale"' })).status, target).to.equal(412);
        const tag = (await call("GET", target)).headers.get("etag")!;
        expect((await call(method, target, body, { "If-Match": tag })).status, target).to.equal(200);
      }
    });
  });

  it("are answered in gzip when that is asked for and worth it", async () => {
    const path = await newPipeline();
    await call("PUT", path, { description: "word ".repeat(1_000) });
    const bytesOf = async (target: string, coding: string) => {
      const { headers, body } = await call("GET", target, undefined, { "Accept-Encoding": coding });
      expect(headers.get("vary")).to.include("Accept-Encoding");
      return [headers.get("content-encoding"), Number(headers.get("content-length")), body.detail.description?.length];
    };
    const [coding, packed, chars] = await bytesOf(path, "br, gzip;q=0.5");
    expect([coding, chars]).to.deep.equal(["gzip", 5_000]);
    expect(packed).to.be.below(1_000);
    expect(await bytesOf(path, "gzip;q=0, identity")).to.satisfy(([c, n]: [null, number]) => c === null && n > 5_000);
    expect((await bytesOf(path, "identity"))[0]).to.equal(null);
    expect((await bytesOf("/projects/default", "gzip"))[0], "a small answer").to.equal(null);
  });

  describe("with a key", () => {
    it("create one object, however often they come, and refuse another body", async () => {
      for (const [target, body, id] of [
        ["/pipelines", { name: "keyed" }, "pipelineId"],
        ["/projects", { name: "keyed" }, "projectId"],
      ] as const) {
        const key = { "Idempotency-Key": `key of ${target}` };
        const [one, two] = await Promise.all([call("POST", target, body, key), call("POST", target, body, key)]);
        const winners = [one!, two!].filter(({ status }) => status === 200);
        expect(winners).to.have.length.of.at.least(1);
        const again = await call("POST", target, body, key);
        expect(again.body.detail[id]).to.equal(winners[0]!.body.detail[id]);
        expect(again.body.detail.name).to.equal("keyed");
        const other = await call("POST", target, { name: "other" }, key);
        expect([other.status, other.body.reason]).to.deep.equal([409, "request_id_reused"]);
        expect((await call("POST", target, body)).body.reason, "without the key").to.equal("already_exists");
      }
    });

    it("trigger and save once, as with requestId", async () => {
      const path = await newPipeline();
      const spec = { jobs: [{ name: "job", steps: [{ name: "step", uses: "shell", args: { script: "true" } }] }] };
      const key = { "Idempotency-Key": "once" };
      const save = () => call("POST", `${path}/spec/save`, { spec }, key);
      expect((await save()).body.detail).to.deep.equal((await save()).body.detail);
      const trigger = (body: object, headers: Record<string, string> = key) =>
        call("POST", `${path}/trigger`, body, headers);
      const { runId } = (await trigger({})).body.detail;
      expect((await trigger({})).body.detail.runId).to.equal(runId);
      expect((await trigger({ requestId: "once" })).body.detail.runId).to.equal(runId);
      expect((await trigger({ requestId: "once" }, {})).body.detail.runId).to.equal(runId);
      expect((await trigger({ variables: { a: "b" } })).body.reason).to.equal("request_id_reused");
      expect((await trigger({ requestId: "twice" })).body.errors[0].pointer).to.equal("/requestId");
      expect((await trigger({}, { "Idempotency-Key": "k".repeat(201) })).status).to.equal(400);
    });

    it("create users, tenants, teams, accounts and secrets once", async () => {
      const password = "correct horse battery";
      for (const [target, body, other, idOf] of [
        ["/users", { name: "keyed", role: "viewer", password }, { password: `${password}!` }, "userId"],
        ["/tenants", { name: "keyed" }, { name: "other" }, "tenantId"],
        ["/tenants/default/teams", { name: "keyed" }, { name: "other" }, "teamId"],
        ["/tenants/default/service-accounts", { name: "keyed-one" }, { name: "other" }, "userId"],
        ["/projects/default/service-accounts", { name: "keyed-two" }, { name: "other" }, "userId"],
        ["/projects/default/secrets", { name: "KEYED", value: "one value" }, { value: "two value" }, "name"],
      ] as const) {
        const key = { "Idempotency-Key": `once ${target}` };
        const first = await call("POST", target, body, key);
        const again = await call("POST", target, body, key);
        expect([first.status, again.status], target).to.deep.equal([200, 200]);
        expect(again.body.detail[idOf], target).to.equal(first.body.detail[idOf]);
        const changed = await call("POST", target, { ...body, ...other }, key);
        expect([changed.status, changed.body.reason], target).to.deep.equal([409, "request_id_reused"]);
        for (const withKey of [{}, { "Idempotency-Key": `twice ${target}` }]) {
          for (let tries = 0; tries < 2; tries++) {
            const taken = await call("POST", target, body, withKey);
            expect([taken.status, taken.body.reason], target).to.deep.equal([409, "already_exists"]);
          }
        }
      }
    });

    it("make what is shown once one time: a repeat names it, and nothing that is stored shows it", async () => {
      const { userId } = (await call("POST", "/tenants/default/service-accounts", { name: "robot" })).body.detail;
      const shown: string[] = [];
      for (const [target, body, pointer, list] of [
        ["/users/me/tokens", { name: "t" }, ["tokenId"], "/users/me/tokens"],
        [`/tenants/default/service-accounts/${userId}/tokens`, { name: "t" }, ["tokenId"], undefined],
        ["/agents/registration-tokens", { name: "t" }, ["tokenId"], undefined],
        ["/invitations", { name: "guest", role: "viewer" }, ["user", "userId"], undefined],
      ] as const) {
        const key = { "Idempotency-Key": `shown ${target}` };
        const { detail } = (await call("POST", target, body, key)).body;
        shown.push(detail.token ?? new URL(detail.link as string).searchParams.get("token"));
        const again = await call("POST", target, body, key);
        expect([again.status, again.body.reason], target).to.deep.equal([409, "already_exists"]);
        const id = pointer.reduce((at, field) => at[field], detail);
        expect(again.body.errors, target).to.deep.equal([
          { code: "created", pointer: `/${pointer.join("/")}`, message: id },
        ]);
        expect(JSON.stringify(again.body)).to.not.include(shown.at(-1)!.slice(-32));
        if (list === undefined) continue;
        const ids = (await call("GET", list)).body.detail.list.map((one: { tokenId: string }) => one.tokenId);
        expect(ids.filter((one: string) => one === id)).to.have.lengthOf(1);
        expect((await call("POST", target, { name: "u" }, key)).body.reason).to.equal("request_id_reused");
      }
      const password = "a quite long password";
      const key = { "Idempotency-Key": "a password" };
      await call("POST", "/users", { name: "hidden", role: "viewer", password }, key);
      const digest = createHash("sha256").update(password).digest("hex");
      const stored = ["", "-wal"].map((end) => readFileSync(`${edge.storePath}${end}`, "latin1")).join("");
      expect(stored.includes("hidden")).to.equal(true);
      for (const secret of [...shown.map((text) => text.slice(-64)), password, digest]) {
        expect(stored.includes(secret)).to.equal(false);
      }
    });

    it("are heeded by every POST that creates", () => {
      const safe = {
        "/id-token": "a signed statement, of which nothing is stored",
        "/auth/tickets": "good for 60 s",
        "/auth/logout": "creates nothing",
        "/users/:userId/reset-link": "a further link makes the earlier ones void",
        "/agents/:agentId/drain": "creates nothing",
        "/agents/:agentId/undrain": "creates nothing",
        "/pipelines/:pipelineId/spec/validate": "changes nothing",
        "/pipelines/:pipelineId/plan": "changes nothing",
        "/pipelines/:pipelineId/repository/check": "changes nothing",
        "/projects/:projectId/repository/discover": "changes nothing",
        "/pipelines/:pipelineId/repository/webhook/check": "changes nothing",
        "/pipelines/:pipelineId/repository/webhook": "makes one webhook for an address, however often it is called",
        "/projects/:projectId/hooks/:hookId/deliveries/:deliveryId/redeliver": "keeps the runs that the delivery has",
        "/plugins": "a repeat of the same package changes nothing",
        "/invitations/:user/link": "a further link makes the earlier ones void",
        "/pipelines/runs/:runId/notifications/:notificationId/resend": "sends what is stored",
        "/cluster/dead-letters/:id/redrive": "creates nothing",
        ...Object.fromEntries(
          ["/tenants/:tenantId", "/projects/:projectId"].flatMap((owner) => [
            [`${owner}/plugins`, "a repeat of the same package changes nothing"],
            [`${owner}/webhooks/:webhookId/rotate-secret`, "a further secret takes the place of the earlier one"],
            [`${owner}/webhooks/:webhookId/deliveries/:deliveryId/redeliver`, "sends what is stored"],
          ]),
        ),
      };
      const without = [...API_ROUTES, ...SESSION_ROUTES].filter(
        ({ method, acceptsKey }) => method === "POST" && !acceptsKey,
      );
      expect(without.map(({ path }) => path)).to.have.members(Object.keys(safe));
    });

    it("do not bring back what was deleted meanwhile", async () => {
      const key = { "Idempotency-Key": "gone" };
      const { pipelineId } = (await call("POST", "/pipelines", { name: "gone" }, key)).body.detail;
      await call("DELETE", `/pipelines/${pipelineId}`);
      const again = await call("POST", "/pipelines", { name: "gone" }, key);
      expect([again.status, again.body.reason]).to.deep.equal([409, "conflict"]);
    });
  });

  describe("from browsers", () => {
    const preflight = { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization" };
    const send = (origin: string, method: string, headers: Record<string, string> = {}) =>
      fetch(`${edge.origin}/api/v1/pipelines`, { method, headers: { Origin: origin, ...headers } });

    it("are allowed from pages of the named origins, errors included", async () => {
      const asked = await send(PAGE, "OPTIONS", preflight);
      expect(asked.status).to.equal(204);
      expect(asked.headers.get("access-control-allow-origin")).to.equal(PAGE);
      expect(asked.headers.get("access-control-allow-headers")).to.include("Authorization");
      expect(asked.headers.get("access-control-allow-methods")).to.include("DELETE");
      const refused = await send(PAGE, "GET");
      expect(refused.status).to.equal(401);
      expect(refused.headers.get("access-control-allow-origin")).to.equal(PAGE);
      expect(refused.headers.get("access-control-expose-headers")).to.include("ETag");
      expect(refused.headers.get("access-control-allow-credentials")).to.equal(null);
      expect(refused.headers.get("vary")).to.include("Origin");
    });

    it("are not allowed from other pages", async () => {
      for (const origin of ["https://evil.example.com", `${PAGE}.evil.com`, "null"]) {
        const asked = await send(origin, "OPTIONS", preflight);
        expect([asked.status, asked.headers.get("access-control-allow-origin")]).to.deep.equal([401, null]);
      }
    });

    it("are allowed from every page only when the setting says so", () => {
      const of = (text: string) => readNodeConfig({ MILLRACE_CORS_ORIGINS: text }).origins;
      expect(of("*")).to.equal("*");
      expect(of("https://a.example, http://localhost:3000")).to.deep.equal([
        "https://a.example",
        "http://localhost:3000",
      ]);
      expect(readNodeConfig({}).origins).to.deep.equal([]);
      for (const wrong of ["a.example", "https://a.example/", "https://a.example/x", "https://*.example", "ftp://a"]) {
        expect(() => of(wrong), wrong).to.throw("MILLRACE_CORS_ORIGINS");
      }
    });
  });

  describe("that cannot be answered", () => {
    const refusals: readonly (readonly [string, string, string, number, string, Record<string, string>, string?])[] = [
      ["an unknown path", "GET", "/nothing", 404, "not_found", {}],
      ["another method", "PUT", "/pipelines", 405, "method_not_allowed", {}],
      ["an Accept without JSON", "GET", "/pipelines", 406, "not_acceptable", { Accept: "text/html, image/*" }],
      [
        "a body of another type",
        "POST",
        "/pipelines",
        415,
        "unsupported_media_type",
        { "Content-Type": "text/plain" },
        "x",
      ],
      ["a large body", "POST", "/projects", 413, "payload_too_large", {}, `{"name":"${"x".repeat(70_000)}"}`],
    ];
    for (const [what, method, path, status, reason, headers, raw] of refusals) {
      it(`get ${status} in the envelope of errors for ${what}`, async () => {
        const target = `/api/v1${path}`;
        const answer = await edge.call(method, target, { headers, ...(raw === undefined ? {} : { raw }) });
        expect([answer.status, answer.body.code, answer.body.reason, answer.body.path]).to.deep.equal([
          status,
          status,
          reason,
          target,
        ]);
        expect(answer.headers.get("content-type")).to.include("application/json");
        const allowed = answer.headers.get("allow")?.split(", ");
        expect(allowed?.sort()).to.deep.equal(status === 405 ? ["GET", "HEAD", "POST"] : undefined);
      });
    }

    it("carry the id of the request, the caller's when it is plain", async () => {
      const own = await call("GET", "/nothing", undefined, { "X-Request-Id": "build-17.a_b" });
      expect(own.headers.get("x-request-id")).to.equal("build-17.a_b");
      for (const bad of ["a b", "x".repeat(65), "a;b", "ä"]) {
        const made = await call("GET", "/nothing", undefined, { "X-Request-Id": bad });
        expect(made.headers.get("x-request-id")).to.match(/^[0-9a-f-]{36}$/);
      }
    });
  });
});

describe("limits on the rate of calls", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge({ rateLimits: { token: 20, address: 5 } });
  });
  after(() => edge.close());

  it("refuse a token that calls too often, and no other token", async () => {
    const other = await edge.userWithRole("viewer");
    const calls = [];
    for (let n = 0; n < 21; n++) calls.push(await edge.call("GET", "/api/v1/projects"));
    expect(calls.map(({ status }) => status)).to.deep.equal([...Array.from({ length: 20 }, () => 200), 429]);
    expect(calls[0]!.headers.get("ratelimit-policy")).to.equal('"token";q=20;w=60');
    expect(calls[0]!.headers.get("ratelimit")).to.match(/^"token";r=19;t=[345]$/);
    const { headers, body } = calls[20]!;
    expect([body.reason, headers.get("ratelimit")?.slice(0, 11)]).to.deep.equal(["too_many", '"token";r=0']);
    expect(Number(headers.get("retry-after"))).to.be.within(1, 3);
    expect((await edge.call("GET", "/api/v1/projects", { token: other.token })).status).to.equal(200);
  });

  it("refuse an address without a valid token, and go on serving tokens and health from it", async () => {
    const other = await edge.userWithRole("viewer");
    const statusOf = async (path: string, token: string | null) => (await edge.call("GET", path, { token })).status;
    for (let n = 0; n < 3; n++) expect(await statusOf("/api/v1/pipelines", null)).to.equal(401);
    for (let n = 0; n < 2; n++) expect(await statusOf("/api/v1/pipelines", "mrt_guess")).to.equal(401);
    for (const path of ["/api/v1/pipelines", "/api/v1/openapi.json", "/nothing"]) {
      expect(await statusOf(path, null), path).to.equal(429);
    }
    expect(await statusOf("/api/v1/pipelines", "mrt_guess")).to.equal(429);
    expect(await statusOf("/api/v1/projects", other.token)).to.equal(200);
    for (let n = 0; n < 10; n++) expect(await statusOf("/healthz", null)).to.equal(200);
  });

  it("are changed by the settings of the installation while the edge runs", async () => {
    const { documents } = edge.context.stores;
    const environment = { rateLimits: { token: 20, address: 5 }, given: [] };
    const settings = new PolledSettings({ documents, log: edge.context.log });
    const changing = await openTestEdge({ rateLimits: currentRateLimits(settings, environment) });
    try {
      const policyOf = async (token?: string | null) => {
        const { status, headers } = await changing.call("GET", "/api/v1/pipelines", token === null ? { token } : {});
        return `${status} ${headers.get("ratelimit-policy")}`;
      };
      expect(await policyOf()).to.equal('200 "token";q=20;w=60');
      const set = (version: number, values: object) =>
        documents.save({ kind: "settings", owner: "installation", version, body: { values } });
      await set(1, { "calls.perToken": 0, "calls.perAddress": 1 });
      await settings.refresh();
      expect([await policyOf(), await policyOf(null), await policyOf(null)]).to.deep.equal([
        "200 null",
        '401 "address";q=1;w=60',
        '429 "address";q=1;w=60',
      ]);
      await set(2, { "calls.perAddress": 3 });
      await settings.refresh();
      expect([await policyOf(), await policyOf(null)]).to.deep.equal([
        '200 "token";q=20;w=60',
        '401 "address";q=3;w=60',
      ]);
    } finally {
      await changing.close();
    }
  });

  it("come back evenly, and keep a bounded number of callers", () => {
    const counter = new CallCounter(60, 1_000);
    for (let n = 0; n < 60; n++) expect(counter.take("a", 0).isAllowed).to.equal(true);
    expect(counter.take("a", 999)).to.deep.equal({ isAllowed: false, left: 0, seconds: 1 });
    expect(counter.take("a", 1_000).isAllowed).to.equal(true);
    expect(counter.take("a", 1_000).isAllowed).to.equal(false);
    expect(counter.take("a", 61_000).left).to.equal(59);
    for (let n = 0; n < 5_000; n++) counter.take(`k${n}`, 61_000);
    expect(counter.size).to.equal(1_000);
  });

  it("are by default none that a busy script meets", () => {
    expect(readNodeConfig({}).rateLimits).to.deep.equal({ token: 1_000_000, address: 600 });
    const none = readNodeConfig({ MILLRACE_CALLS_PER_TOKEN: "0", MILLRACE_CALLS_PER_ADDRESS: "0" });
    expect(none.rateLimits).to.deep.equal({ token: null, address: null });
  });
});
