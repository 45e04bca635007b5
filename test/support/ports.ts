/** Free ports of this machine. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * The range lies below the ports that systems give to outgoing connections and to servers that leave the choice to the system. So
 * a server of a test finds its port free when the test starts the server again.
 */
const FROM = 15_000;
const TO = 32_000;

const given = new Set<number>();

/** A loopback port that was free a moment ago and that this process has not given out before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, TO);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
