import type { Attack } from "../attack.ts";
import { openSocket, startRun, waitingJobs } from "../following.ts";

const PAIRS = 5_000;

export const attack: Attack = {
  name: "subscribe-unsubscribe",
  title: "subscribes and unsubscribes 5,000 times on one socket without waiting for an answer",
  as: "viewer",
  async run(target, signal) {
    const names = await startRun(target, "followed briefly", waitingJobs(100));
    while (!signal.aborted) {
      const socket = await openSocket(target);
      if (socket === null) return;
      let answered = 0;
      const done = new Promise<void>((resolve) => {
        socket.on("message", (data) => {
          if (String(data).includes('"type":"unsubscribed"') && ++answered === PAIRS) resolve();
        });
        socket.on("close", () => resolve());
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      for (let at = 0; at < PAIRS; at++) {
        for (const action of ["subscribe", "unsubscribe"]) {
          socket.send(JSON.stringify({ channel: "channel_status", action, params: names[at % names.length] }));
        }
      }
      await done;
      socket.terminate();
    }
  },
};
