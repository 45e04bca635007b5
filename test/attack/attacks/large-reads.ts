import type { Attack } from "../attack.ts";
import { runIdOf, startRun, waitingJobs } from "../following.ts";

const JOBS = 4_000;
const AT_ONCE = 50;

export const attack: Attack = {
  name: "large-reads",
  title: "asks for a run of 4,000 jobs and for parts of it, fifty times at once, as fast as it can",
  as: "viewer",
  async run(target, signal) {
    const [first] = await startRun(target, "wide run", waitingJobs(JOBS));
    const runId = await runIdOf(target, first!.pipelineId);
    const attackOn = async (index: number): Promise<void> => {
      for (let round = index; !signal.aborted; round++) {
        const query = ["", "?attempts=all", `?jobs=${(round % JOBS) + 1}..${JOBS}`][round % 3]!;
        await target.call("GET", `/api/v1/pipelines/runs/${runId}${query}`, { token: target.tokens.viewer });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attackOn(index)));
  },
};
