/** The Git host of the sample: bare repositories over loopback, behind a password. */
import { hash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveRepositories } from "./git-backend.ts";

export interface SampleGitServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves the bare repositories in `folder` on 127.0.0.1, to callers whose password is `key`. Another user of the machine
 * reaches the port too, and a definition says what the agent runs, so the key is needed to read and to push. Takes another
 * port when `wanted` is in use.
 */
export async function startSampleGitServer(folder: string, key: string, wanted: number): Promise<SampleGitServer> {
  const server = createServer((request, response) => {
    if (hasPassword(request.headers.authorization, key)) serveRepositories(folder, request, response, "millrace");
    else response.writeHead(401, { "www-authenticate": 'Basic realm="millrace sample"' }).end();
  });
  for (const port of [wanted, 0]) {
    server.listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      break;
    } catch (error) {
      if (port === 0) throw error;
    }
  }
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function hasPassword(header: string | undefined, key: string): boolean {
  const [, encoded] = /^Basic ([\w+/=]+)$/i.exec(header ?? "") ?? [];
  if (encoded === undefined) return false;
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return timingSafeEqual(hash("sha256", password, "buffer"), hash("sha256", key, "buffer"));
}
