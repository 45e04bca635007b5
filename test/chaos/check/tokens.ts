/** Checks the fencing tokens: no two grants of a job have the same one, and a later grant has a larger one. Pure. */
import type { RunEvidence, Violation } from "./evidence.ts";
import { groupBy } from "./groups.ts";

export function checkTokens({ runId, jobs }: RunEvidence): readonly Violation[] {
  return [...groupBy(jobs, ({ index, cell }) => `${index}.${cell}`).values()].flatMap((attempts) => {
    const found: Violation[] = [];
    const say = (kind: Violation["kind"], text: string) => found.push({ kind, text: `run ${runId}: ${text}` });
    let newest = 0;
    for (const job of attempts.toSorted((a, b) => a.attempt - b.attempt)) {
      const { jobId, token, reused, steps } = job;
      if (reused) continue;
      if (token !== null && token <= newest)
        say("doubled", `job ${jobId} was granted under the token ${token} after the token ${newest}`);
      newest = Math.max(newest, token ?? 0);
      for (const step of steps) {
        if (step.token !== null && !step.reused && step.token !== token)
          say("wrong", `step ${step.stepRunId} has the token ${step.token}, its job ${jobId} has ${token}`);
      }
    }
    return found;
  });
}
