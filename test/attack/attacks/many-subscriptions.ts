import type { Attack } from "../attack.ts";
import { openSocket, startRun, untilOver, waitingJobs } from "../following.ts";

const SOCKETS = 50;
const SUBSCRIPTIONS = 200;

export const attack: Attack = {
  name: "many-subscriptions",
  title: "follows logs and statuses of a run of 100 jobs with 50 sockets of 200 subscriptions each",
  as: "viewer",
  async run(target, signal) {
    const names = await startRun(target, "followed by many", waitingJobs(100));
    for (let opened = 0; opened < SOCKETS && !signal.aborted; opened++) {
      const socket = await openSocket(target);
      socket?.on("message", (data) => target.count((JSON.parse(String(data)) as { readonly type: string }).type));
      for (let at = 0; at < SUBSCRIPTIONS; at++) {
        const channel = at % 2 === 0 ? "channel_log" : "channel_status";
        socket?.send(JSON.stringify({ channel, params: names[Math.floor(at / 2) % names.length] }));
      }
    }
    await untilOver(signal);
  },
};
