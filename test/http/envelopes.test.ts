import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import type { AddressInfo } from "node:net";
import { createMetricsServer } from "../../src/http/server/metrics-server.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";

function expectError(answer: Answer, status: number, reason: string, path: string): void {
  expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
  expect(answer.body).to.include({ code: status, reason, path });
  expect(answer.body).to.have.all.keys("code", "errMsg", "path", "timestamp", "reason", "errors");
  expect(answer.body.errMsg).to.be.a("string").that.is.not.empty;
  expect(answer.body.timestamp).to.be.closeTo(Date.now() / 1_000, 5);
}

describe("every HTTP answer", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  const PIPELINES = "/api/v1/pipelines";

  it("refuses a compressed body, a key that is empty, and a caller who excludes its type", async () => {
    const post = (name: string, headers: Record<string, string>) =>
      edge.call("POST", PIPELINES, { body: { name }, headers });
    const packed = await post("packed", { "Content-Encoding": "gzip" });
    expectError(packed, 415, "unsupported_media_type", PIPELINES);
    expect(packed.headers.get("accept-encoding")).to.equal("identity");
    expect(packed.body.errMsg).to.include("without `Content-Encoding: gzip`");
    expectError(await post("", { "Content-Encoding": "identity" }), 400, "malformed_request", PIPELINES);
    const keyless = await post("keyless", { "Idempotency-Key": "" });
    expectError(keyless, 400, "malformed_request", PIPELINES);
    expect(keyless.body.errMsg).to.include("Idempotency-Key is empty");
    for (const accept of ["application/xml, */*;q=0", "application/json;q=0, text/html"]) {
      expectError(await edge.call("GET", PIPELINES, { headers: { accept } }), 406, "not_acceptable", PIPELINES);
    }
    expect((await edge.call("GET", PIPELINES, { headers: { accept: "text/html, */*;q=0.8" } })).status).to.equal(200);
  });

  it("carries the success envelope, a request id and headers that forbid content sniffing", async () => {
    const answer = await edge.call("GET", PIPELINES, { headers: { "x-request-id": "abc-1" } });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.include({ code: 0, msg: "success" });
    expect(answer.body.detail).to.deep.equal({
      list: [],
      total: 0,
      totalIsExact: true,
      page: 1,
      pageSize: 20,
      next: null,
    });
    expect(answer.body.timestamp).to.be.closeTo(Date.now() / 1_000, 5);
    expect(answer.headers.get("x-request-id")).to.equal("abc-1");
    expect(answer.headers.get("x-content-type-options")).to.equal("nosniff");
    expect(answer.headers.get("cache-control")).to.equal("no-store");
    expect(answer.headers.get("content-type")).to.match(/^application\/json/);
  });

  it("replaces a request id that could forge a line of the log", async () => {
    const answer = await edge.call("GET", PIPELINES, { headers: { "x-request-id": "a b" } });
    expect(answer.headers.get("x-request-id")).to.match(/^[0-9a-f-]{36}$/);
  });

  it("is 401 without a valid token, for any method of a path that is served", async () => {
    for (const token of [null, "nonsense", `mrt_tok_${"0".repeat(26)}_${"0".repeat(64)}`]) {
      for (const method of ["GET", "POST", "PATCH"]) {
        const answer = await edge.call(method, PIPELINES, { token });
        expectError(answer, 401, "unauthenticated", PIPELINES);
        expect(answer.headers.get("www-authenticate")).to.equal("Bearer");
      }
    }
    expectError(
      await edge.call("GET", PIPELINES, { token: null, headers: { authorization: `Basic ${edge.adminToken}` } }),
      401,
      "unauthenticated",
      PIPELINES,
    );
  });

  it("is 404 for paths without a route, below the API and elsewhere", async () => {
    expectError(await edge.call("GET", "/api/v1/nowhere"), 404, "not_found", "/api/v1/nowhere");
    for (const path of ["/nowhere", "/api/v1", "/api/v1/nowhere"]) {
      expectError(await edge.call("GET", path, { token: null }), 404, "not_found", path);
    }
    expectError(await edge.call("GET", "/api/v1/pipelines/a/b/c"), 404, "not_found", "/api/v1/pipelines/a/b/c");
  });

  it("is 405 with Allow for a method that the path does not accept", async () => {
    const answer = await edge.call("PATCH", PIPELINES);
    expectError(answer, 405, "method_not_allowed", PIPELINES);
    expect(answer.headers.get("allow")?.split(", ")).to.have.members(["HEAD", "GET", "POST"]);
    expectError(
      await edge.call("GET", "/api/v1/auth/login", { token: null }),
      405,
      "method_not_allowed",
      "/api/v1/auth/login",
    );
    expectError(await edge.call("DELETE", "/healthz", { token: null }), 405, "method_not_allowed", "/healthz");
  });

  it("to HEAD is the answer to GET without its body", async () => {
    const answer = await edge.call("HEAD", PIPELINES);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.equal(undefined);
    expect(Number(answer.headers.get("content-length"))).to.be.greaterThan(20);
  });

  it("is 415 for a body whose content type is not JSON", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json2"]) {
      const answer = await edge.call("POST", PIPELINES, { raw: "name=x", headers: { "content-type": type } });
      expectError(answer, 415, "unsupported_media_type", PIPELINES);
    }
  });

  it("is 400 with line and column for malformed JSON", async () => {
    const cases: readonly (readonly [string, number, number])[] = [
      ['{"name": }', 1, 10],
      ['{\n  "name": "x",\n}', 3, 1],
      ['["a" "b"]', 1, 6],
      ['{"name": "x"', 1, 13],
      ["nope", 1, 1],
      ['{"name": "a\nb"}', 1, 10],
      ["[1,]", 1, 4],
      ["{} {}", 1, 4],
      ["[}", 1, 2],
    ];
    for (const [raw, line, column] of cases) {
      const answer = await edge.call("POST", PIPELINES, { raw });
      expectError(answer, 400, "malformed_request", PIPELINES);
      expect(answer.body.errors[0], raw).to.include({ code: "json", line, column });
      expect(answer.body.errMsg).to.include(`line ${line}, column ${column}`);
    }
  });

  it("is 400 for text that is not UTF-8 and for nesting that would overflow a stack", async () => {
    const bytes = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expectError(await edge.call("POST", PIPELINES, { raw: bytes }), 400, "malformed_request", PIPELINES);
    const deep = `{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expectError(await edge.call("POST", PIPELINES, { raw: deep }), 400, "malformed_request", PIPELINES);
  });

  it("is 400 for bodies that are not objects, and for a missing body", async () => {
    for (const raw of ["[]", "null", "1", '"x"']) {
      expectError(await edge.call("POST", PIPELINES, { raw }), 400, "malformed_request", PIPELINES);
    }
    const answer = await edge.call("POST", PIPELINES);
    expectError(answer, 400, "malformed_request", PIPELINES);
    expect(answer.body.errors).to.deep.equal([{ code: "required", pointer: "/name", message: "is required" }]);
  });

  it("names every problem of a body at once, each with its pointer", async () => {
    const body = { name: 5, saveMode: "push", metadata: { "a/b": 1 }, "x~y": 1, colour: "red" };
    const answer = await edge.call("POST", PIPELINES, { body });
    expectError(answer, 400, "malformed_request", PIPELINES);
    const pointers = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.have.members(["/name", "/saveMode", "/metadata/a~1b", "/x~0y", "/colour"]);
  });

  it("names unknown query parameters and invalid pages", async () => {
    const answer = await edge.call("GET", `${PIPELINES}?page=0&pageSize=101&sort=size&colour=red`);
    expectError(answer, 400, "malformed_request", PIPELINES);
    const pointers = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.have.members(["/page", "/pageSize", "/sort", "/colour"]);
    expectError(await edge.call("GET", `${PIPELINES}?page=1&page=2`), 400, "malformed_request", PIPELINES);
    expectError(await edge.call("GET", `${PIPELINES}?page=1e3`), 400, "malformed_request", PIPELINES);
  });

  it("is 413 for a body of 20 MB, after which connection and server still work", async () => {
    const raw = JSON.stringify({ name: "x".repeat(20 * 1024 * 1024) });
    for (let round = 0; round < 3; round++) {
      expectError(await edge.call("POST", PIPELINES, { raw }), 413, "payload_too_large", PIPELINES);
    }
    expect((await edge.call("GET", PIPELINES)).status).to.equal(200);
  });

  it("is 413 for an endless body, whose connection is then closed", async () => {
    const socket = connect(edge.port, "127.0.0.1");
    await once(socket, "connect");
    socket.on("error", () => {});
    socket.write(
      `POST ${PIPELINES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.adminToken}\r\n` +
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    let received = "";
    socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    let sent = 0;
    const pump = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += 0x10000;
    };
    socket.on("drain", pump);
    pump();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(received).to.match(/^HTTP\/1\.1 413 /);
    expect(received).to.include('"code":413');
    expect(sent).to.be.lessThan(100 * 1024 * 1024);
  });

  it("holds no internals after an internal error", async () => {
    const { pipelines } = edge.context.stores;
    const original = pipelines.list;
    pipelines.list = () => Promise.reject(new Error("disk sector 7 is bad"));
    try {
      const answer = await edge.call("GET", PIPELINES, { headers: { "x-request-id": "find-me" } });
      expectError(answer, 500, "internal", PIPELINES);
      expect(JSON.stringify(answer.body)).not.to.include("sector");
      expect(answer.body.errMsg).to.include("find-me");
    } finally {
      pipelines.list = original;
    }
  });

  it("of /healthz and /readyz needs no token, and names what is not ready", async () => {
    expect((await edge.call("GET", "/healthz", { token: null })).body.detail).to.deep.equal({ status: "alive" });
    expect((await edge.call("GET", "/readyz", { token: null })).body.detail.status).to.equal("ready");
    edge.readiness.checks = { redis: () => Promise.reject(new Error("secret host name")) };
    const answer = await edge.call("GET", "/readyz", { token: null });
    edge.readiness.checks = {};
    expectError(answer, 503, "unavailable", "/readyz");
    expect(answer.body.errMsg).to.include("others");
    expect(JSON.stringify(answer.body)).not.to.include("secret");
  });

  it("is measured by route pattern, on a listener of its own", async () => {
    await edge.call("GET", `${PIPELINES}/pl_1`);
    const metrics = createMetricsServer(edge.registry).listen(0, "127.0.0.1");
    await once(metrics, "listening");
    const { port } = metrics.address() as AddressInfo;
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).to.include('route="/api/v1/pipelines/:pipelineId",status="404"');
    expect(text).not.to.include("pl_1");
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).to.equal(404);
    metrics.closeAllConnections();
    metrics.close();
  });
});
