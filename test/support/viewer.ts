/** A viewer: a real WebSocket client that keeps everything it is told. */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { TestEdge } from "./edge.ts";
import { until } from "./until.ts";

export interface Told {
  readonly channel: string;
  readonly type: string;
  readonly params: Readonly<Record<string, string>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever is told
  readonly data: any;
  readonly error?: string;
}

export class TestViewer {
  readonly socket: WebSocket;
  readonly told: Told[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.told.push(JSON.parse(data.toString())));
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

  /** The first message of that type, now or later. */
  async next(type: string, deadlineMs?: number): Promise<Told> {
    return until(`a message ${type}`, () => this.told.find((told) => told.type === type), deadlineMs);
  }

  ofType(type: string): readonly Told[] {
    return this.told.filter((told) => told.type === type);
  }

  /** Entries of the log as they came: history, then live lines. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  get entries(): readonly any[] {
    return this.told.flatMap(({ type, data }) => (type === "log_chunk" ? data : type === "log" ? [data] : []));
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, "close");
    this.socket.terminate();
    await closed;
  }
}
