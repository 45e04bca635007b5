/** The checker of a scenario: it reads the evidence and answers the violations. Pure. */
import type { Evidence, RunEvidence, Violation } from "./evidence.ts";
import { checkExclusion } from "./exclusion.ts";
import { checkSecrets } from "./secrets.ts";
import { checkSteps } from "./steps.ts";
import { checkTransitions } from "./transitions.ts";

const FINAL: readonly string[] = ["success", "failed", "cancelled", "partial"];

/** Every violation of a promise that the evidence shows. Empty when all promises were kept. */
export function check(evidence: Evidence): readonly Violation[] {
  const { runs, marks, deadLetters } = evidence;
  return [
    ...checkTriggers(evidence),
    ...runs.flatMap((run) => [...checkEnded(run), ...checkTransitions(run)]),
    ...checkSteps(runs, marks),
    ...checkExclusion(evidence),
    ...checkLogs(evidence),
    ...checkSecrets(evidence),
    ...deadLetters.map((text): Violation => ({ kind: "wrong", text: `dead letter: ${text}` })),
  ];
}

/** Every acknowledged trigger has one run of its own, and every run has an acknowledged trigger. */
function checkTriggers({ acknowledged, runs }: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const requestOf = new Map<string, string>();
  for (const { requestId, runId, ends } of acknowledged) {
    const run = byId.get(runId);
    if (run === undefined) {
      found.push({
        kind: "lost",
        text: `trigger ${requestId} was acknowledged as ${runId}, which is not in the store`,
      });
      continue;
    }
    if (requestOf.has(runId))
      found.push({ kind: "lost", text: `triggers ${requestOf.get(runId)} and ${requestId} share a run` });
    requestOf.set(runId, requestId);
    if (FINAL.includes(run.status) && !ends.includes(run.status) && !isLostWithItsAgents(run)) {
      found.push({ kind: "wrong", text: `run ${runId} ended ${run.status} instead of ${ends.join(" or ")}` });
    }
  }
  for (const { runId } of runs) {
    if (!requestOf.has(runId)) found.push({ kind: "doubled", text: `run ${runId} belongs to no acknowledged trigger` });
  }
  return found;
}

/** A run may fail when one of its jobs lost the agent of its first attempt and the agent of its last one. */
function isLostWithItsAgents({ status, jobs }: RunEvidence): boolean {
  return status === "failed" && jobs.some(({ attempt, reason }) => attempt > 1 && reason === "agent_lost");
}

function checkEnded({ runId, status, settled }: RunEvidence): readonly Violation[] {
  if (!FINAL.includes(status)) return [{ kind: "stuck", text: `run ${runId} is still ${status}` }];
  return settled ? [] : [{ kind: "stuck", text: `run ${runId} has ended and still owes effects` }];
}

/** After the end of a step, its last lines may still be on their way to the control plane for this long. */
const IN_FLIGHT_MS = 10_000;

/**
 * A viewer sees each line once, in order, from line 1 to the last line that the step wrote. A gap record may replace
 * lines only when the step's agent was killed with them.
 */
function checkLogs({ logs, runs, agentKills }: Evidence): readonly Violation[] {
  const steps = new Map(
    runs.flatMap((run) => run.jobs.flatMap((job) => job.steps.map((step) => [step.stepRunId, { run, job, step }]))),
  );
  return logs.flatMap(({ stepRunId, written, seen }): readonly Violation[] => {
    const found: Violation[] = [];
    const say = (kind: Violation["kind"], text: string) => found.push({ kind, text: `log of ${stepRunId}: ${text}` });
    const owner = steps.get(stepRunId);
    const endedAt = owner?.run.events.findLast((event) => event.stepRunId === stepRunId)?.timeMs ?? 0;
    const mayHaveGap = agentKills.some(({ agentId, at }) => {
      return agentId === owner?.job.agentId && Math.abs(at - endedAt) < IN_FLIGHT_MS;
    });
    const seenNumbers = new Set<number>();
    let next = 1;
    for (const { number, text, lostThrough } of seen) {
      if (number > next) say("lost", `line ${number} came when ${next} was due`);
      else if (seenNumbers.has(number)) say("doubled", `line ${number} came again`);
      else if (number < next) say("reordered", `line ${number} came after ${next - 1}`);
      if (lostThrough !== null && !mayHaveGap) say("lost", `a gap record replaces lines ${number} to ${lostThrough}`);
      if (lostThrough === null && text !== `line ${number}`)
        say("wrong", `line ${number} reads ${JSON.stringify(text)}`);
      seenNumbers.add(number);
      next = Math.max(next, (lostThrough ?? number) + 1);
    }
    if (owner?.step.status === "success" && next <= written) {
      say("lost", `the log ends with line ${next - 1} of ${written}`);
    }
    return found;
  });
}
