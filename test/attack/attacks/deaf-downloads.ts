import { connect } from "node:net";
import type { Attack } from "../attack.ts";
import { runIdOf, startRun, untilOver, waitingJobs } from "../following.ts";

const CONNECTIONS = 400;

export const attack: Attack = {
  name: "deaf-downloads",
  title: "asks 400 times for a run of 1,000 jobs, and reads none of the answers",
  as: "viewer",
  async run(target, signal) {
    const [first] = await startRun(target, "long answer", waitingJobs(1_000));
    const token = target.tokens.viewer;
    const runId = await runIdOf(target, first!.pipelineId);
    const head = `GET /api/v1/pipelines/runs/${runId} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const { hostname, port } = new URL(target.url);
    for (let opened = 0; opened < CONNECTIONS && !signal.aborted; opened++) {
      const socket = connect(Number(port), hostname);
      socket.on("error", (error: NodeJS.ErrnoException) => target.count(`ended: ${error.code ?? error.message}`));
      socket.on("close", () => target.count("closed"));
      socket.pause();
      socket.write(head, () => target.count("asked"));
    }
    await untilOver(signal);
  },
};
