/** The logs of many steps over one WebSocket, each line once. A lost connection is reopened and resumes at the next line. */
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import type { ApiClient } from "./api-client.ts";
import type { LogEntry } from "./run-view.ts";

const RECONNECT_MS = 300;

/** The ids by which the WebSocket names a step run. */
export interface StepName {
  readonly pipelineId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

interface Tail {
  readonly step: StepName;
  readonly listener: (entry: LogEntry) => void;
  /** The number of the next line. */
  next: number;
  historyDone: boolean;
  /** `refused`: the server answered with an error: the connection has too many subscriptions, or the log cannot be read now. */
  state: "followed" | "refused" | "unfollowed";
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

  /** Calls `listener` with each line from the first on. A repeated call for a step subscribes again if the server had refused. */
  follow(step: StepName, listener: (entry: LogEntry) => void): void {
    const known = this.#tails.get(step.stepRunId);
    if (known !== undefined && known.state !== "refused") return;
    const tail: Tail = known ?? { step, listener, next: 1, historyDone: false, state: "followed" };
    tail.state = "followed";
    this.#tails.set(step.stepRunId, tail);
    if (this.#socket === undefined) void this.#connect();
    else this.#send("subscribe", tail);
  }

  /** True when all lines up to `lastLine` have arrived; with null, all lines that the server had at the subscription. */
  isComplete(stepRunId: string, lastLine: number | null): boolean {
    const tail = this.#tails.get(stepRunId);
    return tail !== undefined && tail.historyDone && tail.next > (lastLine ?? 0);
  }

  /** Ends the subscription of the step. */
  unfollow(stepRunId: string): void {
    const tail = this.#tails.get(stepRunId);
    if (tail === undefined || tail.state === "unfollowed") return;
    tail.state = "unfollowed";
    this.#send("unsubscribe", tail);
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
        this.#use(socket);
        break;
      }
      await sleep(RECONNECT_MS, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
    this.#connecting = false;
  }

  #use(socket: WebSocket): void {
    if (this.#closed.signal.aborted) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.#receive(JSON.parse(data.toString("utf8")) as ServerMessage));
    // `close` follows each error, and reconnects.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#socket = undefined;
      void this.#connect();
    });
    for (const tail of this.#tails.values()) if (tail.state === "followed") this.#send("subscribe", tail);
  }

  #send(action: "subscribe" | "unsubscribe", { step, next }: Tail): void {
    const params = action === "subscribe" ? { ...step, fromLine: next } : step;
    this.#socket?.send(JSON.stringify({ channel: "channel_log", action, params }));
  }

  #receive({ type, params, data }: ServerMessage): void {
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
