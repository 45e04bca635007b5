/**
 * A server that refuses every request and answers with the request's own body, as some servers do with a wrong
 * password.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Mirror {
  readonly url: string;
  close(): Promise<void>;
}

export async function startMirror(): Promise<Mirror> {
  const server = createServer((request, response) => {
    response.writeHead(401, { "Content-Type": "text/plain" });
    request.pipe(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
