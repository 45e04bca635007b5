import { once } from "node:events";
import { expect } from "chai";
import { type ClientOptions, WebSocket } from "ws";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

describe("the WebSocket handshake", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  function dial(path: string, protocols: string[] = [], options: ClientOptions = {}): WebSocket {
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}${path}`, protocols, options);
    socket.on("error", () => {});
    return socket;
  }
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  async function refusalOf(socket: WebSocket): Promise<{ status: number; body: Record<string, unknown> }> {
    const [request, response] = await once(socket, "unexpected-response");
    let text = "";
    for await (const chunk of response) text += chunk;
    request.destroy();
    return { status: response.statusCode, body: JSON.parse(text) };
  }

  it("accepts the token in the bearer header", async () => {
    const socket = dial("/api/v1/ws", [], bearer(edge.adminToken));
    await once(socket, "open");
    expect(socket.protocol).to.equal("");
    socket.terminate();
  });

  it("accepts the token in a sub-protocol, and never answers that one", async () => {
    const socket = dial("/api/v1/ws", ["millrace.v1", `bearer.${edge.adminToken}`]);
    const opened = once(socket, "open");
    const [upgrade] = await once(socket, "upgrade");
    expect(upgrade.headers["sec-websocket-protocol"]).to.equal("millrace.v1");
    expect(JSON.stringify(upgrade.rawHeaders)).not.to.include(edge.adminToken);
    await opened;
    socket.terminate();
  });

  it("is refused with HTTP 401 without a token or with a wrong one", async () => {
    for (const socket of [
      dial("/api/v1/ws"),
      dial("/api/v1/ws", [], bearer("wrong")),
      dial("/api/v1/ws", ["millrace.v1", "bearer.wrong"]),
      dial("/api/v1/ws", ["millrace.v1", "bearer."]),
    ]) {
      const { status, body } = await refusalOf(socket);
      expect(status).to.equal(401);
      expect(body).to.include({ code: 401, reason: "unauthenticated", path: "/api/v1/ws" });
    }
  });

  it("is refused with HTTP 404 on every other path", async () => {
    for (const path of ["/", "/api/v1/ws/", "/api/v1/pipelines"]) {
      const { status, body } = await refusalOf(dial(path, [], bearer(edge.adminToken)));
      expect(status).to.equal(404);
      expect(body).to.include({ code: 404, reason: "not_found", path });
    }
  });

  it("refuses pages of other origins and accepts those of this host", async () => {
    const { status } = await refusalOf(
      dial("/api/v1/ws", [], { ...bearer(edge.adminToken), origin: "http://evil.example" }),
    );
    expect(status).to.equal(403);
    const own = dial("/api/v1/ws", [], { ...bearer(edge.adminToken), origin: edge.origin });
    await once(own, "open");
    own.terminate();
  });

  it("says which sub-protocol to offer beside the token", async () => {
    const { status, body } = await refusalOf(dial("/api/v1/ws", [`bearer.${edge.adminToken}`]));
    expect(status).to.equal(400);
    expect(body["errMsg"]).to.include("millrace.v1");
  });

  it("answers a plain GET with the error envelope", async () => {
    const answer = await edge.call("GET", "/api/v1/ws");
    expect(answer.body).to.include({ code: 400, reason: "malformed_request" });
  });

  it("is ended by code 1001 when the server stops", async () => {
    const other = await openTestEdge();
    const socket = new WebSocket(`ws://127.0.0.1:${other.port}/api/v1/ws`, bearer(other.adminToken));
    await once(socket, "open");
    const closed = once(socket, "close");
    await other.close();
    expect((await closed)[0]).to.equal(1001);
  });

  it("is followed by pings, and a client that answers none is closed", async () => {
    const other = await openTestEdge({ pingMs: 50 });
    const socket = new WebSocket(`ws://127.0.0.1:${other.port}/api/v1/ws`, {
      ...bearer(other.adminToken),
      autoPong: false,
    });
    const [code] = await once(socket, "close");
    expect(code).to.equal(1006);
    const alive = new WebSocket(`ws://127.0.0.1:${other.port}/api/v1/ws`, bearer(other.adminToken));
    for (let pings = 0; pings < 4; pings++) await once(alive, "ping");
    expect(alive.readyState).to.equal(WebSocket.OPEN);
    await other.close();
  });
});
