/** The logs of many steps over one WebSocket, each line once; a lost connection is opened again where it stood. */
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import type { ApiClient } from "./api-client.ts";
import type { LogEntry } from "./run-view.ts";

const RECONNECT_MS = 300;

/** The ids that name a step run on the wire. */
export interface StepName {
  readonly pipelineId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

interface Tail {
  readonly step: StepName;
  readonly listener: (entry: LogEntry) => void;
  /** Number of the next line to come. */
  next: number;
  historyDone: boolean;
  /** `refused`: the server had no room for it, or could not read. */
  state: "wanted" | "refused" | "left";
}

interface ServerMessage {
  readonly type: string;
  readonly params?: { readonly stepRunId?: string };
  readonly data?: unknown;
}

export class LogTail {
  readonly #api: ApiClient;
  readonly #tails = new Map<string, Tail>();
  readonly #closed = new AbortController();
  #socket: WebSocket | undefined;
  #connecting = false;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  /** Calls `listener` with each line from the first on; a repeat for the same step asks again if it was refused. */
  follow(step: StepName, listener: (entry: LogEntry) => void): void {
    const known = this.#tails.get(step.stepRunId);
    if (known !== undefined && known.state !== "refused") return;
    const tail: Tail = known ?? { step, listener, next: 1, historyDone: false, state: "wanted" };
    tail.state = "wanted";
    this.#tails.set(step.stepRunId, tail);
    if (this.#socket === undefined) void this.#connect();
    else this.#tell("subscribe", tail);
  }

  /** True when the lines up to `lastLine` have come; null: as many as the server had when it was asked. */
  isComplete(stepRunId: string, lastLine: number | null): boolean {
    const tail = this.#tails.get(stepRunId);
    return tail !== undefined && tail.historyDone && tail.next > (lastLine ?? 0);
  }

  /** Nothing more is wanted of the step. */
  leave(stepRunId: string): void {
    const tail = this.#tails.get(stepRunId);
    if (tail === undefined || tail.state === "left") return;
    tail.state = "left";
    this.#tell("unsubscribe", tail);
  }

  close(): void {
    this.#closed.abort();
    this.#socket?.terminate();
  }

  async #connect(): Promise<void> {
    if (this.#connecting) return;
    this.#connecting = true;
    while (!this.#closed.signal.aborted) {
      const socket = await this.#api.connect().catch(() => undefined);
      if (socket !== undefined) {
        this.#adopt(socket);
        break;
      }
      await sleep(RECONNECT_MS, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
    this.#connecting = false;
  }

  #adopt(socket: WebSocket): void {
    if (this.#closed.signal.aborted) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.#hear(JSON.parse(data.toString("utf8")) as ServerMessage));
    // `close` follows, and says all that is needed.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#socket = undefined;
      void this.#connect();
    });
    for (const tail of this.#tails.values()) if (tail.state === "wanted") this.#tell("subscribe", tail);
  }

  #tell(action: "subscribe" | "unsubscribe", { step, next }: Tail): void {
    const params = action === "subscribe" ? { ...step, fromLine: next } : step;
    this.#socket?.send(JSON.stringify({ channel: "channel_log", action, params }));
  }

  #hear({ type, params, data }: ServerMessage): void {
    const tail = this.#tails.get(params?.stepRunId ?? "");
    if (tail === undefined) return;
    if (type === "history_done") tail.historyDone = true;
    if (type === "error") tail.state = "refused";
    const entries = type === "log_chunk" ? (data as readonly LogEntry[]) : type === "log" ? [data as LogEntry] : [];
    for (const entry of entries) {
      if (entry.line_number < tail.next) continue;
      tail.next = entry.line_number + 1;
      tail.listener(entry);
    }
  }
}
