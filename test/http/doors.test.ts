import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import type Koa from "koa";
import { expect } from "chai";
import { createHttpServer } from "../../src/http/server/server.ts";
import { BODY_BOUNDS } from "../../src/http/request/body-bounds.ts";
import { Registry } from "prom-client";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

/** A middleware of `@koa/router`, which lists its routes. */
interface RouterMiddleware extends Koa.Middleware {
  readonly router?: { readonly stack: readonly { readonly methods: readonly string[]; readonly path: string }[] };
}

const WITHOUT_TOKEN = [
  "/healthz",
  "/readyz",
  "/login",
  "/logout",
  "/invitation",
  "/reset",
  "/device",
  "/login/oidc/x",
  "/login/oidc/x/callback",
  "/api/v1/auth/login",
  "/api/v1/auth/refresh",
  "/api/v1/auth/device/code",
  "/api/v1/auth/device/token",
  // The sender of a delivery proves itself.
  "/api/v1/hooks/x",
  "/.well-known/openid-configuration",
  "/.well-known/jwks.json",
  "/api/v1/openapi.json",
  "/api/v1/docs",
  "/api/v1/definitions/schema",
];

describe("a caller without a token", () => {
  let edge: TestEdge;
  let routes: readonly { readonly method: string; readonly pattern: string; readonly path: string }[];
  const agent = new Agent({ keepAlive: true });

  before(async () => {
    edge = await openTestEdge();
    const { app } = createHttpServer(edge.context, { registry: new Registry(), readiness: {} });
    const stacks = (app.middleware as readonly RouterMiddleware[]).flatMap(({ router }) => router?.stack ?? []);
    routes = stacks.flatMap(({ methods, path }) =>
      methods.map((method) => ({
        method,
        pattern: path,
        path: path.replace("{/*path}", "/a/b").replaceAll(/[:*]\w+/g, "x"),
      })),
    );
    expect(routes.length).to.be.greaterThan(60);
  });
  after(async () => {
    agent.destroy();
    await edge.close();
  });

  /** Sends the target unchanged; `fetch` would resolve dot segments and decode escapes. */
  async function send(method: string, target: string, body?: string) {
    const headers = { "content-type": "application/json", ...(body && { "content-length": Buffer.byteLength(body) }) };
    const sent = request({ agent, host: "127.0.0.1", port: edge.port, method, path: "/", headers });
    // The library refuses some of these targets; the server has to answer whatever comes.
    (sent as { path: string }).path = target;
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode!, text };
  }

  const SPELLINGS: readonly (readonly [string, (path: string) => string])[] = [
    ["upper case", (path) => path.toUpperCase()],
    ["the prefix in upper case", (path) => path.replace("/api", "/API")],
    ["one letter in upper case", (path) => path.replace(/[a-z](?=[^/]*$)/, (letter) => letter.toUpperCase())],
    ["a double slash before", (path) => `/${path}`],
    ["double slashes", (path) => path.replaceAll("/", "//")],
    ["a slash behind", (path) => `${path}/`],
    ["two slashes behind", (path) => `${path}//`],
    ["a dot segment", (path) => path.replace("/", "/./")],
    ["a dot segment behind", (path) => `${path}/.`],
    ["a segment back", (path) => `/healthz/..${path}`],
    ["an encoded segment back", (path) => `/healthz/%2e%2e${path}`],
    [
      "an encoded letter",
      (path) => path.replace(/[a-z](?=[^/]*$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    ],
    ["encoded slashes", (path) => `/${path.slice(1).replaceAll("/", "%2f")}`],
    ["an encoded NUL", (path) => `${path}%00`],
    ["a broken escape", (path) => `${path}%`],
    ["a semicolon", (path) => `${path};a=b`],
    ["a backslash", (path) => path.replaceAll("/", "\\")],
    ["an encoded question mark", (path) => `${path}%3fa=b`],
    ["a fragment", (path) => `${path}#a`],
    ["a query", (path) => `${path}?token=x&access_token=x`],
    ["the whole address", (path) => `http://127.0.0.1${path}`],
    ["the whole address with a user", (path) => `http://admin:admin@127.0.0.1${path}`],
    ["an address that is none", (path) => `http://[::1${path}`],
    ["no slash", (path) => path.slice(1)],
  ];

  it("reaches no route of the API, however the path is spelt", async () => {
    const served = await Promise.all(
      routes.map(async ({ method, path }) => ({ method, path, status: (await send(method, path)).status })),
    );
    for (const { method, path, status } of served) {
      if (!WITHOUT_TOKEN.includes(path)) expect(status, `${method} ${path}`).to.equal(401);
    }
    for (const [what, spell] of SPELLINGS) {
      const answers = await Promise.all(
        routes
          .filter(({ path }) => !WITHOUT_TOKEN.includes(path))
          .map(async ({ method, path }) => {
            const { status, text } = await send(method, spell(path));
            return { status, text, call: `${what}: ${method} ${spell(path)}` };
          }),
      );
      for (const { status, text, call } of answers) {
        expect(status, `${call}: ${text}`).to.be.oneOf([400, 401, 404]);
        expect(text, call).not.to.match(/\n\s+at |TypeError/);
      }
    }
  });

  it("gets 404 for a path in another case, whose body and query are not read", async () => {
    const long = `?${"a&".repeat(7_000)}`;
    for (const path of [
      "/API/v1/pipelines",
      "/api/V1/pipelines",
      "/api/v1/Pipelines",
      "/api/v1/auth/Login",
      "/Healthz",
    ]) {
      const { status, text } = await send("POST", path + long, "not json");
      expect(status, path).to.equal(404);
      expect(JSON.parse(text)).to.include({ reason: "not_found" });
    }
  });

  it("is refused an upgrade at every spelling of the path of the WebSocket and at every route", async () => {
    const paths = [
      ...new Set([...routes.map(({ path }) => path), ...SPELLINGS.map(([, spell]) => spell("/api/v1/ws"))]),
    ];
    const statuses = await Promise.all(paths.map((path) => upgrade(path)));
    statuses.forEach((status, index) => {
      const path = paths[index]!;
      const isTheSocket = path === "/api/v1/ws" || path.startsWith("/api/v1/ws?");
      expect(status, path).to.be.oneOf(isTheSocket ? [401] : [400, 404]);
    });
  });

  async function upgrade(path: string): Promise<number> {
    const socket = connect(edge.port, "127.0.0.1");
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(first.toString())![1]);
  }

  it("may send 16 kB to the login, and is told 20 of its mistakes with the number of all", async () => {
    const path = "/api/v1/auth/login";
    const large = await send("POST", path, JSON.stringify({ name: "x".repeat(16 * 1_024), password: "x" }));
    expect([large.status, JSON.parse(large.text).reason]).to.deep.equal([413, "payload_too_large"]);
    expect(large.text).to.include("16 kB");
    const unknown = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`k${index}`, 1]));
    const { status, text } = await send("POST", path, JSON.stringify({ name: "ann", password: "x", ...unknown }));
    expect(status).to.equal(400);
    const body = JSON.parse(text);
    expect(body.errors).to.have.length(20);
    expect(body.errorCount).to.equal(90);
    expect(body.errMsg).to.include("(and 89 more)");
    const many = await send("POST", path, JSON.stringify(Array.from({ length: 200 }, () => 1)));
    expect([many.status, JSON.parse(many.text).errMsg]).to.deep.equal([
      400,
      "the body has more than 100 members and items",
    ]);
  });
});

describe("the bounds of a request", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  const PIPELINES = "/api/v1/pipelines";

  it("refuse a query of more than 4 kB or 32 parameters before it is parsed", async () => {
    for (const query of [
      `name=${"x".repeat(5_000)}`,
      "a&".repeat(7_000),
      Array.from({ length: 33 }, () => "a=b").join("&"),
    ]) {
      const { status, body } = await edge.call("GET", `${PIPELINES}?${query}`);
      expect([status, body.reason, body.errors[0].code]).to.deep.equal([400, "malformed_request", "too_big"]);
      expect(body.errMsg).to.match(/^the query has \d+ (?:bytes; 4096|parameters; 32) are allowed$/);
    }
    const fits = Array.from({ length: 32 }, (_, index) => `a${index}=b`).join("&");
    expect((await edge.call("GET", `${PIPELINES}?${fits}`)).body.errorCount).to.equal(32);
  });

  it("exist for every route that is named with a bound of its own", () => {
    const { app } = createHttpServer(edge.context, { registry: new Registry(), readiness: {} });
    const stacks = (app.middleware as readonly RouterMiddleware[]).flatMap(({ router }) => router?.stack ?? []);
    const served = stacks.flatMap(({ methods, path }) =>
      methods.map((method) => `${method} ${path.slice("/api/v1".length)}`),
    );
    for (const route of Object.keys(BODY_BOUNDS)) expect(served, route).to.include(route);
  });

  it("differ by route", async () => {
    const { pipelineId } = (await edge.call("POST", PIPELINES, { body: { name: "bounds" } })).body.detail;
    const at = `${PIPELINES}/${pipelineId}`;
    const padded = (bytes: number) => `{}${" ".repeat(bytes)}`;
    for (const [path, kB] of [
      ["/api/v1/users", 64],
      [`${at}/runs/run_x/stop`, 64],
      [PIPELINES, 1_024],
      [`${at}/trigger`, 4_096],
    ] as const) {
      const over = await edge.call("POST", path, { raw: padded(kB * 1_024) });
      expect([over.status, over.body.reason], path).to.deep.equal([413, "payload_too_large"]);
      expect((await edge.call("POST", path, { raw: padded(kB * 1_024 - 2) })).status, path).not.to.equal(413);
    }
  });

  it("count members and depth before the body is parsed", async () => {
    const { pipelineId } = (await edge.call("POST", PIPELINES, { body: { name: "keys" } })).body.detail;
    const path = `${PIPELINES}/${pipelineId}/spec/validate`;
    const keys = Array.from({ length: 300_000 }, (_, index) => `"${index.toString(36)}":1`).join(",");
    const { status, body } = await edge.call("POST", path, { raw: `{${keys}}` });
    expect([status, body.errMsg]).to.deep.equal([400, "the body has more than 150000 members and items"]);
    const deep = await edge.call("POST", path, { raw: "[".repeat(4 * 1_024 * 1_024) });
    expect([deep.status, deep.body.errMsg]).to.deep.equal([400, "the body is nested deeper than 64 levels"]);
  });

  it("refuse the key __proto__ wherever it stands, instead of losing it", async () => {
    for (const [raw, pointer] of [
      ['{"name":"p","metadata":{"__proto__":"x"}}', "/metadata/__proto__"],
      ['{"name":"p","metadata":{"\\u005f_proto__":"x"}}', "/metadata/__proto__"],
      ['{"__proto__":{"name":"p"}}', "/__proto__"],
    ] as const) {
      const { status, body } = await edge.call("POST", PIPELINES, { raw });
      expect([status, body.reason], raw).to.deep.equal([400, "malformed_request"]);
      expect(body.errors[0]).to.include({ code: "reserved_key", pointer });
    }
    const metadata = { constructor: "c", prototype: "p", toString: "t", hasOwnProperty: "h" };
    const made = await edge.call("POST", PIPELINES, { body: { name: "odd keys", metadata, description: "__proto__" } });
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    expect(made.body.detail.metadata).to.deep.equal(metadata);
  });
});

describe("a body that has a key twice in one object", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  const PIPELINES = "/api/v1/pipelines";

  it("is refused with the place of the second one, instead of losing the first", async () => {
    for (const [raw, pointer, line, column] of [
      ['{"name":"a","name":"b"}', "/name", 1, 13],
      ['{"name":"a","metadata":{"k":"1",\n "\\u006b":"2"}}', "/metadata/k", 2, 2],
      ['{"name":"a","metadata":{"a/b":"{\\"x\\":1,\\"x\\":2}","a/b":""}}', "/metadata/a~1b", 1, 51],
      ['{"name":[{},[],{"x":[1],"y":{"x":2},"x":3}]}', "/name/2/x", 1, 37],
    ] as const) {
      const { status, body } = await edge.call("POST", PIPELINES, { raw });
      expect([status, body.reason], raw).to.deep.equal([400, "malformed_request"]);
      expect(body.errors, raw).to.have.length(1);
      expect(body.errors[0], raw).to.include({ code: "duplicate_key", pointer, line, column });
    }
  });

  it("is told from one that has it in two objects, or in a text", async () => {
    const metadata = { k: '{"k":1,"k":2}', name: ":::" };
    const made = await edge.call("POST", PIPELINES, {
      body: { name: "twice", metadata, description: '"name":"name"' },
    });
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    expect(made.body.detail.metadata).to.deep.equal(metadata);
  });
});

describe("a slow client", () => {
  const WITHIN_MS = 400;
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge({ headWithinMs: WITHIN_MS });
  });
  after(() => edge.close());

  /** What the server answers until it closes the connection, and after how many milliseconds it does. */
  async function drip(head: string): Promise<{ readonly answer: string; readonly ms: number }> {
    const socket = connect(edge.port, "127.0.0.1");
    await once(socket, "connect");
    socket.on("error", () => {});
    const start = performance.now();
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(head);
    const more = setInterval(() => socket.write("x"), 20);
    await once(socket, "close");
    clearInterval(more);
    return { answer, ms: performance.now() - start };
  }

  it("is cut off when its headers do not arrive in time", async () => {
    const { answer, ms } = await drip("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    expect(answer).to.match(/^HTTP\/1\.1 408 /);
    expect(ms).to.be.within(WITHIN_MS - 10, 10 * WITHIN_MS);
  });

  it("is told so and cut off when a small body does not arrive in time", async () => {
    const post = (path: string, more = "") =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n${more}\r\n{`;
    const login = await drip(post("/api/v1/auth/login"));
    expect(login.answer)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.to.include("the body did not arrive within 0.4 s");
    expect(login.ms).to.be.within(WITHIN_MS - 10, 10 * WITHIN_MS);
    const user = await drip(post("/api/v1/users", `Authorization: Bearer ${edge.adminToken}\r\n`));
    expect(user.answer).to.match(/^HTTP\/1\.1 400 /);
  });
});
