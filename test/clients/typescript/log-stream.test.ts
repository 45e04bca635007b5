import { expect } from "chai";
import { type LogEntry, LogStream, MillraceClient, type Socket } from "../../../clients/typescript/src/index.ts";
import { until } from "../../support/until.ts";

const STEP = { pipelineId: "pl", jobId: "job", stepRunId: "step" };

/** A connection whose other end is the test. */
class ScriptedSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  readonly sent: { readonly action: string; readonly params: object }[] = [];
  isClosed = false;

  constructor(answers: boolean) {
    setImmediate(() => (answers ? this.onopen?.({} as never) : this.end(1006)));
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as ScriptedSocket["sent"][number]);
  }
  close(): void {
    if (!this.isClosed) this.end(1000);
  }
  end(code: number): void {
    this.isClosed = true;
    this.onclose?.({ code } as never);
  }
  text(data: string): void {
    this.onmessage?.({ data } as never);
  }
  tell(type: string, data?: unknown): void {
    this.text(JSON.stringify({ channel: "channel_log", type, params: STEP, data }));
  }
}

const line = (number: number) => ({ line_number: number, content: `line ${number}` });

describe("a log stream", () => {
  let sockets: ScriptedSocket[];
  let protocols: (readonly string[])[];
  let renewed: string[];
  let notices: boolean[];
  let lines: string[];
  /** How many of the next connections fail. */
  let failures: number;
  let stream: LogStream;

  beforeEach(() => {
    [sockets, protocols, renewed, notices, lines, failures] = [[], [], [], [], [], 0];
    const credentials = {
      token: () => Promise.resolve(`token-${renewed.length}`),
      renew: (refused: string) => Promise.resolve(renewed.push(refused) > 0),
    };
    stream = new LogStream(new MillraceClient({ baseUrl: "https://ci.example/base", credentials }), {
      openSocket(url, offered) {
        expect(url).to.equal("wss://ci.example/base/api/v1/ws");
        protocols.push(offered);
        sockets.push(new ScriptedSocket(failures-- <= 0));
        return sockets.at(-1)!;
      },
      onConnection: (isConnected) => notices.push(isConnected),
    });
  });
  afterEach(() => stream.close());

  const follow = () => stream.follow(STEP, ({ content }: LogEntry) => lines.push(content));
  const connection = (number: number) =>
    until("a connection is used", () => (sockets[number - 1]?.sent.length ?? 0) > 0 && sockets[number - 1]);

  it("gives each line once and in order, and knows when a log is complete", async () => {
    follow();
    const socket = await connection(1);
    expect(protocols[0]).to.deep.equal(["millrace.v1", "bearer.token-0"]);
    expect(socket.sent[0]).to.deep.include({ action: "subscribe", params: { ...STEP, fromLine: 1 } });
    socket.tell("log_chunk", [line(1), line(2)]);
    expect(stream.isComplete("step", null)).to.equal(false);
    socket.tell("history_done");
    socket.tell("log", line(2));
    socket.tell("log", line(3));
    expect(lines).to.deep.equal(["line 1", "line 2", "line 3"]);
    expect([stream.isComplete("step", 3), stream.isComplete("step", 4)]).to.deep.equal([true, false]);
    stream.unfollow("step");
    expect(socket.sent.at(-1)).to.deep.include({ action: "unsubscribe" });
  });

  it("goes on behind the last line after a lost connection, and tells of the loss", async () => {
    follow();
    (await connection(1)).tell("log", line(1));
    failures = 1;
    sockets[0]!.end(1006);
    const socket = await connection(3);
    expect(socket.sent[0]).to.deep.include({ params: { ...STEP, fromLine: 2 } });
    expect(notices).to.deep.equal([false, true]);
    socket.tell("log_chunk", [line(1), line(2)]);
    expect(lines).to.deep.equal(["line 1", "line 2"]);
  });

  it("renews a token that the server does not take any more", async () => {
    follow();
    (await connection(1)).end(4401);
    await connection(2);
    expect(renewed).to.deep.equal(["token-0"]);
    expect(protocols[1]).to.include("bearer.token-1");
  });

  it("opens another connection when the messages are no millrace's", async () => {
    follow();
    (await connection(1)).text("<html>");
    expect(sockets[0]!.isClosed).to.equal(true);
    await connection(2);
  });

  it("subscribes again when the server had refused, and not otherwise", async () => {
    follow();
    const socket = await connection(1);
    follow();
    expect(socket.sent).to.have.length(1);
    socket.tell("error");
    follow();
    expect(socket.sent).to.have.length(2);
  });

  it("opens no connection after it was closed", async () => {
    follow();
    const socket = await connection(1);
    stream.close();
    expect(socket.isClosed).to.equal(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sockets).to.have.length(1);
  });
});
