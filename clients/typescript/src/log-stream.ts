/**
 * The logs of many steps over one WebSocket, each line once and in order. A lost connection is opened again, and each log
 * goes on behind its last line. The messages are those of docs/http-api.md, which OpenAPI cannot describe.
 */
import type { Schemas } from "./api-types.ts";
import type { MillraceClient } from "./client.ts";
import { backoffMs, wait } from "./waiting.ts";

const MOST_BACKOFF_MS = 5_000;
/** A server that is there answers a handshake within this time. */
const HANDSHAKE_MS = 15_000;
/** The close code for a token that is not valid any more. */
const TOKEN_REFUSED = 4401;

/** The ids by which the WebSocket names a step run. */
export interface StepName {
  readonly pipelineId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

/** A line of a log, over the WebSocket as over HTTP. Lines that were lost are one entry. */
export type LogEntry = Schemas["LogEntry"];

/** The part of the standard `WebSocket` that is used; the package `ws` has it too. */
export interface Socket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

export type OpenSocket = (url: string, protocols: readonly string[]) => Socket | Promise<Socket>;

export interface LogStreamOptions {
  /** Default: the global `WebSocket`, which Node has from version 22 on. */
  readonly openSocket?: OpenSocket;
  /** Called when the connection is lost (false) and when it is there again (true). */
  readonly onConnection?: (isConnected: boolean) => void;
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

export class LogStream {
  readonly #client: MillraceClient;
  readonly #openSocket: OpenSocket;
  readonly #onConnection: (isConnected: boolean) => void;
  readonly #tails = new Map<string, Tail>();
  readonly #closed = new AbortController();
  #socket: Socket | undefined;
  #isConnecting = false;
  #failures = 0;

  constructor(client: MillraceClient, { openSocket = openGlobal, onConnection = () => {} }: LogStreamOptions = {}) {
    this.#client = client;
    this.#openSocket = openSocket;
    this.#onConnection = onConnection;
  }

  /** Calls `listener` with each line from the first on. A repeated call for a step subscribes again if the server had refused. */
  follow(step: StepName, listener: (entry: LogEntry) => void, fromLine = 1): void {
    const known = this.#tails.get(step.stepRunId);
    if (known !== undefined && known.state !== "refused") return;
    const tail: Tail = known ?? { step, listener, next: fromLine, historyDone: false, state: "followed" };
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
    this.#socket?.close();
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    while (!this.#closed.signal.aborted) {
      const socket = await this.#open().catch(() => undefined);
      if (socket !== undefined) {
        this.#use(socket);
        break;
      }
      if (this.#failures++ === 0) this.#onConnection(false);
      await wait(backoffMs(this.#failures, MOST_BACKOFF_MS), this.#closed.signal).catch(() => {});
    }
    this.#isConnecting = false;
  }

  /** Resolves with an open connection. */
  async #open(): Promise<Socket> {
    const { transport } = this.#client;
    const token = await transport.options.credentials.token();
    const url = transport.urlOf("/ws");
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = await this.#openSocket(url.href, [
      "millrace.v1",
      ...(token === undefined ? [] : [`bearer.${token}`]),
    ]);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error("the handshake took too long"));
        socket.close();
      }, HANDSHAKE_MS);
      socket.onopen = () => {
        clearTimeout(timer);
        resolve(socket);
      };
      socket.onerror = () => {};
      // A refused handshake ends like a lost connection: browsers do not tell the status.
      socket.onclose = () => {
        clearTimeout(timer);
        reject(new Error("the connection was closed"));
      };
    });
  }

  #use(socket: Socket): void {
    if (this.#closed.signal.aborted) {
      socket.close();
      return;
    }
    if (this.#failures > 0) this.#onConnection(true);
    this.#failures = 0;
    this.#socket = socket;
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.#receive(socket, String(data));
    socket.onclose = ({ code }: { readonly code: number }) => {
      this.#socket = undefined;
      if (this.#closed.signal.aborted) return;
      void this.#reconnect(code);
    };
    for (const tail of this.#tails.values()) if (tail.state === "followed") this.#send("subscribe", tail);
  }

  async #reconnect(code: number): Promise<void> {
    const { credentials } = this.#client.transport.options;
    if (code === TOKEN_REFUSED) {
      const token = await credentials.token().catch(() => undefined);
      if (token !== undefined) await credentials.renew?.(token).catch(() => false);
    }
    await this.#connect();
  }

  #send(action: "subscribe" | "unsubscribe", { step, next }: Tail): void {
    const params = action === "subscribe" ? { ...step, fromLine: next } : step;
    this.#socket?.send(JSON.stringify({ channel: "channel_log", action, params }));
  }

  #receive(socket: Socket, text: string): void {
    let message: ServerMessage;
    try {
      message = JSON.parse(text) as ServerMessage;
    } catch {
      // This is no millrace, or something between changes what it sends. A new connection may be better.
      socket.close();
      return;
    }
    const { type, params, data } = message;
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

function openGlobal(url: string, protocols: readonly string[]): Socket {
  const { WebSocket } = globalThis as unknown as {
    WebSocket?: new (url: string, protocols: readonly string[]) => Socket;
  };
  if (WebSocket === undefined) {
    throw new TypeError("this runtime has no WebSocket: give one as `openSocket`, for example of the package ws");
  }
  return new WebSocket(url, protocols);
}
