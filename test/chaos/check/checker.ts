/** The judge of a scenario: evidence in, violations out. Pure. */
import type { Evidence, RunEvidence, Violation } from "./evidence.ts";
import { checkAlone } from "./alone.ts";
import { checkSecrets } from "./secrets.ts";
import { checkSteps } from "./steps.ts";
import { checkTransitions } from "./transitions.ts";

const FINAL: readonly string[] = ["success", "failed", "cancelled", "partial"];

/** Every violation of the promises that the evidence shows; empty when they were kept. */
export function check(evidence: Evidence): readonly Violation[] {
  const { runs, marks, deadLetters } = evidence;
  return [
    ...checkTriggers(evidence),
    ...runs.flatMap((run) => [...checkEnded(run), ...checkTransitions(run)]),
    ...checkSteps(runs, marks),
    ...checkAlone(evidence),
    ...checkLogs(evidence),
    ...checkSecrets(evidence),
    ...deadLetters.map((text): Violation => ({ kind: "wrong", text: `dead letter: ${text}` })),
  ];
}

/** Every acknowledged trigger is a run, one run each, and no run is there that nobody asked for. */
function checkTriggers({ acknowledged, runs }: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const asked = new Map<string, string>();
  for (const { requestId, runId, ends } of acknowledged) {
    const run = byId.get(runId);
    if (run === undefined) {
      found.push({
        kind: "lost",
        text: `trigger ${requestId} was acknowledged as ${runId}, which is not in the store`,
      });
      continue;
    }
    if (asked.has(runId))
      found.push({ kind: "lost", text: `triggers ${asked.get(runId)} and ${requestId} share a run` });
    asked.set(runId, requestId);
    if (FINAL.includes(run.status) && !ends.includes(run.status) && !isLostWithItsAgents(run)) {
      found.push({ kind: "wrong", text: `run ${runId} ended ${run.status} instead of ${ends.join(" or ")}` });
    }
  }
  for (const { runId } of runs) {
    if (!asked.has(runId)) found.push({ kind: "doubled", text: `run ${runId} belongs to no acknowledged trigger` });
  }
  return found;
}

/** A job that lost an agent with its first attempt and with its second has used up what it had. */
function isLostWithItsAgents({ status, jobs }: RunEvidence): boolean {
  return status === "failed" && jobs.some(({ attempt, reason }) => attempt > 1 && reason === "agent_lost");
}

function checkEnded({ runId, status, settled }: RunEvidence): readonly Violation[] {
  if (!FINAL.includes(status)) return [{ kind: "stuck", text: `run ${runId} is still ${status}` }];
  return settled ? [] : [{ kind: "stuck", text: `run ${runId} has ended and still owes something` }];
}

/** How long after its end a step's last lines may be on their way. */
const ON_THEIR_WAY_MS = 10_000;

/**
 * Lines come with the numbers 1, 2, 3 and so on, once, up to the last one that the step wrote. Only where an agent was
 * killed a record may stand for those that died with it.
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
    const mayLack = agentKills.some(({ agentId, at }) => {
      return agentId === owner?.job.agentId && Math.abs(at - endedAt) < ON_THEIR_WAY_MS;
    });
    const come = new Set<number>();
    let next = 1;
    for (const { number, text, lostThrough } of seen) {
      if (number > next) say("lost", `line ${number} came when ${next} was due`);
      else if (come.has(number)) say("doubled", `line ${number} came again`);
      else if (number < next) say("reordered", `line ${number} came behind ${next - 1}`);
      if (lostThrough !== null && !mayLack) say("lost", `lines ${number} to ${lostThrough} are said to be lost`);
      if (lostThrough === null && text !== `line ${number}`)
        say("wrong", `line ${number} reads ${JSON.stringify(text)}`);
      come.add(number);
      next = Math.max(next, (lostThrough ?? number) + 1);
    }
    if (owner?.step.status === "success" && next <= written) {
      say("lost", `it ends with line ${next - 1} of ${written}`);
    }
    return found;
  });
}
