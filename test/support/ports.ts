/** Free ports of this machine. */
import { once } from "node:events";
import { createServer } from "node:net";

/** A loopback port that was free a moment ago; another process may take it before the caller does. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
