/** A receiver of webhooks: a real HTTP server that remembers what it is sent. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  readonly path: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface TestReceiver {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** The status and body of the answer; 204 without a body at first. */
  answer: (request: ReceivedRequest) => { readonly status: number; readonly body?: string };
  close(): Promise<void>;
}

export async function startReceiver(): Promise<TestReceiver> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { headers, url = "" } = request;
      const body = Buffer.concat(pieces).toString("utf8");
      const one = {
        path: url,
        id: String(headers["webhook-id"]),
        headers: headers as ReceivedRequest["headers"],
        body,
      };
      receiver.received.push(one);
      const answer = receiver.answer(one);
      response.writeHead(answer.status).end(answer.body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: TestReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: () => ({ status: 204 }),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return receiver;
}
