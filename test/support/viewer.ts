/** A viewer: a real WebSocket client that keeps every message that it receives. */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { TestEdge } from "./edge.ts";
import { until } from "./until.ts";

export interface ReceivedMessage {
  readonly channel: string;
  readonly type: string;
  readonly params: Readonly<Record<string, string>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any message
  readonly data: any;
  readonly error?: string;
}

export class TestViewer {
  readonly socket: WebSocket;
  readonly received: ReceivedMessage[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.received.push(JSON.parse(data.toString())));
  }

  static async open(edge: Pick<TestEdge, "port" | "adminToken">): Promise<TestViewer> {
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/api/v1/ws`, {
      headers: { authorization: `Bearer ${edge.adminToken}` },
    });
    const viewer = new TestViewer(socket);
    await once(socket, "open");
    return viewer;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** The first message of that type; waits for it when it has not come yet. */
  async next(type: string, deadlineMs?: number): Promise<ReceivedMessage> {
    return until(`a message ${type}`, () => this.received.find((message) => message.type === type), deadlineMs);
  }

  ofType(type: string): readonly ReceivedMessage[] {
    return this.received.filter((message) => message.type === type);
  }

  /** Log entries in the order in which they came: history, then live lines. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  get entries(): readonly any[] {
    return this.received.flatMap(({ type, data }) => (type === "log_chunk" ? data : type === "log" ? [data] : []));
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, "close");
    this.socket.terminate();
    await closed;
  }
}
