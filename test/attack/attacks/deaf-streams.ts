import type { Attack } from "../attack.ts";
import { openSocket, startRun, untilOver } from "../following.ts";

const LINES = 200_000;
const STREAMS = 1_000;

export const attack: Attack = {
  name: "deaf-streams",
  title: "opens 1,000 streams of a long log and reads none of them",
  as: "viewer",
  async run(target, signal) {
    const script = `seq -f 'a line of the log with some words in it %.0f' 1 ${LINES}`;
    const job = { name: "long", steps: [{ name: "step", uses: "shell", args: { script } }] };
    const [name] = await startRun(target, "long log", [job]);
    for (let opened = 0; opened < STREAMS && !signal.aborted; opened++) {
      const socket = await openSocket(target);
      socket?.send(JSON.stringify({ channel: "channel_log", params: name }));
      socket?.pause();
    }
    await untilOver(signal);
  },
};
