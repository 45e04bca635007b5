import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import { WebSocket, WebSocketServer } from "ws";
import { logEntry } from "../../src/app/following/log-entry.ts";
import type { LogLine } from "../../src/stores/ports/logs.ts";
import { frameStyle, framesOf, LogFrames } from "../../src/ws/log-frames.ts";

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
    const style = (type: "log" | "log_chunk") => frameStyle(type, { ...source }, { ...echo });
    const live = frames.of(part, style("log"));
    expect(frames.of(part, style("log"))).to.equal(live);
    expect(frames.of(part, style("log_chunk"))).to.not.equal(live);
    expect(frames.of([line], style("log")).equals(live)).to.equal(true);
  });

  it("hold the entries as JSON writes them, whatever is in the lines", () => {
    const source = { stepRunId: 'step_"1' as never, agentId: "", uses: "acme/x@1" };
    const echo = { channel: "channel_log", params: { stepRunId: "step_1" } };
    const lines: LogLine[] = [
      { line: 1, timeMs: 1_999, stream: "stdout", level: "info", content: "plain", lost: 0 },
      { line: 2, timeMs: 2_000, stream: "stderr", level: 'e"', content: '\u001b[31m"\\\r\u2028\ud800ä', lost: 0 },
      { line: 3, timeMs: 2_000, stream: "stderr", level: "x", content: "", lost: 7 },
    ];
    const entries = lines.map((line) => logEntry(line, source));
    const message = (type: string, data: unknown) => JSON.stringify({ ...echo, type, data });
    expect(frameStyle("log_chunk", source, echo).texts(lines)).to.deep.equal([message("log_chunk", entries)]);
    expect(frameStyle("log", source, echo).texts(lines)).to.deep.equal(entries.map((entry) => message("log", entry)));
  });
});
