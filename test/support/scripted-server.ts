/** An HTTP server that answers as a test says, for the answers that a millrace server gives rarely or never. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ReceivedCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answering = (call: ReceivedCall, response: ServerResponse) => void;

export class ScriptedServer {
  readonly calls: ReceivedCall[] = [];
  /** Answers each call. */
  answer: Answering = (_, response) => void response.destroy();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        const call = { method: request.method!, url: request.url!, headers: request.headers, body };
        this.calls.push(call);
        this.answer(call, response);
      });
    });
  }

  static async start(): Promise<ScriptedServer> {
    const server = new ScriptedServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

/** Answers as millrace does when a call succeeds. */
export function succeed(response: ServerResponse, detail: unknown): void {
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.end(JSON.stringify({ code: 0, msg: "success", detail, timestamp: 1 }));
}

/** Answers as millrace does when it refuses a call. */
export function refuse(
  response: ServerResponse,
  status: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = { code: status, errMsg: `refused: ${reason}`, path: "/", timestamp: 1, reason, errors: [] };
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req-1", ...headers });
  response.end(JSON.stringify(body));
}
