import { once } from "node:events";
import { connect } from "node:net";
import { text as readAll } from "node:stream/consumers";
import { expect } from "chai";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

describe("what arrives at the listener and is no request that can be served", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge({ headWithinMs: 300 });
  });
  after(() => edge.close());

  /** All that the server answers until it closes the connection. */
  async function send(text: string): Promise<{ status: number; headers: string; body: string }> {
    const socket = connect(edge.port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(text, "latin1");
    const answer = await readAll(socket);
    const [headers = "", ...body] = answer.split("\r\n\r\n");
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), headers, body: body.join("\r\n\r\n") };
  }

  it("is refused with the error envelope", async () => {
    for (const [what, bytes, status, reason] of [
      ["no HTTP", "hello\r\n\r\n", 400, "malformed_request"],
      ["a handshake of TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000", 400, "malformed_request"],
      ["HTTP/2 without a question", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "malformed_request"],
      ["large headers", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431, "headers_too_large"],
      ["a long address", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, "headers_too_large"],
      ["slow headers", "GET / HTTP/1.1\r\nHost: x\r\n", 408, "request_timeout"],
      ["no host", "GET /healthz HTTP/1.1\r\n\r\n", 400, "malformed_request"],
      [
        "two lengths",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        400,
        "malformed_request",
      ],
      ["a wish for a proxy", "CONNECT db:5432 HTTP/1.1\r\nHost: db\r\n\r\n", 405, "method_not_allowed"],
    ] as const) {
      const answer = await send(bytes);
      expect(answer.status, what).to.equal(status);
      expect(answer.headers.toLowerCase(), what)
        .to.include("content-type: application/json")
        .and.to.include("connection: close");
      const envelope = JSON.parse(answer.body) as Record<string, unknown>;
      expect(envelope, what).to.include({ code: status, reason });
      expect(envelope, what).to.have.all.keys("code", "errMsg", "path", "timestamp", "reason", "errors");
      expect(envelope["timestamp"]).to.be.closeTo(Date.now() / 1_000, 5);
    }
  });

  it("has no body in the answer to a HEAD", async () => {
    const { status, body } = await send("HEAD /a\u0001b HTTP/1.1\r\nHost: x\r\n\r\n");
    expect([status, body]).to.deep.equal([400, ""]);
  });

  it("ends the connection without a word while an answer is being sent", async () => {
    const socket = connect(edge.port, "127.0.0.1");
    socket.on("error", () => {});
    const bearer = `Authorization: Bearer ${edge.adminToken}\r\n`;
    socket.write(`GET /api/v1/live/agents HTTP/1.1\r\nHost: x\r\n${bearer}\r\n`);
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    await once(socket, "data");
    socket.write("no request\r\n\r\n");
    await once(socket, "close");
    expect(answer.match(/HTTP\/1\.1 /g)).to.have.length(1);
    expect(answer).to.match(/^HTTP\/1\.1 200 /);
  });

  it("is served when it only offers or expects what the server does not know", async () => {
    const bearer = `Authorization: Bearer ${edge.adminToken}\r\n`;
    const h2c = "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\nConnection: Upgrade, HTTP2-Settings\r\n";
    const end = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const health = await send(`GET /healthz HTTP/1.1\r\nHost: x\r\n${h2c}\r\n${end}`);
    expect(health.status).to.equal(200);
    expect(health.body.match(/HTTP\/1\.1 200 /g), "the next request of the connection").to.have.length(1);
    const body = JSON.stringify({ name: "h2c", description: "é".repeat(2_000) });
    const post = (more: string) =>
      `POST /api/v1/pipelines HTTP/1.1\r\nHost: x\r\n${bearer}${more}Content-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${Buffer.from(body).toString("latin1")}`;
    const created = await send(post(h2c) + end);
    expect([created.status, created.body.includes('"name":"h2c"')]).to.deep.equal([200, true]);
    const refused = await send(post("Upgrade: h2c, websocket\r\nConnection: upgrade\r\n") + end);
    expect([refused.status, refused.body.includes('"reason":"already_exists"')]).to.deep.equal([409, true]);
    const expecting = await send(`GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: the best\r\nConnection: close\r\n\r\n`);
    expect(expecting.status).to.equal(200);
  });

  it("is refused with the error envelope when it is a handshake of WebSocket with a mistake", async () => {
    const head = "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    for (const lines of [
      `GET /api/v1/ws HTTP/1.1\r\n${head}`,
      `GET /api/v1/ws HTTP/1.1\r\n${head}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 7\r\n`,
      `POST /api/v1/ws HTTP/1.1\r\n${head}`,
    ]) {
      const { status, body } = await send(`${lines}\r\n`);
      expect(status).to.equal(400);
      expect(JSON.parse(body)).to.include({ code: 400, reason: "malformed_request", path: "/api/v1/ws" });
    }
  });
});
