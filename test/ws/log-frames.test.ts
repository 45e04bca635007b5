import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import { WebSocket, WebSocketServer } from "ws";
import { framesOf, LogFrames } from "../../src/ws/log-frames.ts";

describe("frames of log lines", () => {
  it("are read by a client as the messages that they were made of, whatever their length", async () => {
    const texts = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000].map(
      (length) => "ä".repeat(length / 2) + "x".repeat(length % 2),
    );
    const endpoint = new WebSocketServer({ noServer: true });
    const http = createServer();
    http.on("upgrade", (request, socket, head) => {
      endpoint.handleUpgrade(request, socket as Socket, head, (opened) => {
        opened.send("before");
        socket.write(framesOf(texts));
        opened.send("after");
      });
    });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const client = new WebSocket(`ws://127.0.0.1:${(http.address() as { port: number }).port}`);
    const received: string[] = [];
    client.on("message", (data) => received.push(data.toString()));
    await new Promise<void>((resolve, reject) => {
      client.on("error", reject);
      client.on("message", () => received.length === texts.length + 2 && resolve());
    });
    expect(received).to.deep.equal(["before", ...texts, "after"]);
    client.terminate();
    http.close();
    endpoint.close();
  });

  it("are made once for all viewers of a part", () => {
    const frames = new LogFrames();
    const line = { line: 1, timeMs: 1, stream: "stdout", level: "info", content: "x", lost: 0 } as const;
    const part = [line];
    const source = { stepRunId: "step_1" as never, agentId: "agt_1", uses: "shell" };
    const echo = { channel: "channel_log", params: { stepRunId: "step_1" } };
    const live = frames.of({ type: "log", part, source, echo });
    expect(frames.of({ type: "log", part, source: { ...source }, echo: { ...echo } })).to.equal(live);
    expect(frames.of({ type: "log_chunk", part, source, echo })).to.not.equal(live);
    expect(frames.of({ type: "log", part: [line], source, echo }).equals(live)).to.equal(true);
  });
});
