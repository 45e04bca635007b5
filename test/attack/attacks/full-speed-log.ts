import type { Attack } from "../attack.ts";
import { openSocket, startRun, untilOver } from "../following.ts";

const LINES = 1_000_000;
const VIEWERS = 21;

export const attack: Attack = {
  name: "full-speed-log",
  title: "runs a step that logs a million lines at full speed, and follows it with 21 viewers",
  as: "step",
  async run(target, signal) {
    const script = `seq -f 'a line of the log with some words in it %.0f' 1 ${LINES}`;
    const job = { name: "loud", steps: [{ name: "step", uses: "shell", args: { script } }] };
    const [name] = await startRun(target, "loud", [job]);
    for (let opened = 0; opened < VIEWERS && !signal.aborted; opened++) {
      const socket = await openSocket(target);
      socket?.send(JSON.stringify({ channel: "channel_log", params: name }));
    }
    await untilOver(signal);
  },
};
