/** The judge of a scenario: evidence in, violations out. Pure. */
import type { Evidence, LogEvidence, RunEvidence, Violation } from "./evidence.ts";
import { checkSteps } from "./steps.ts";
import { checkTransitions } from "./transitions.ts";

const FINAL: readonly string[] = ["success", "failed", "cancelled", "partial"];

/** Every violation of the promises that the evidence shows; empty when they were kept. */
export function check(evidence: Evidence): readonly Violation[] {
  const { runs, marks, logs, deadLetters } = evidence;
  return [
    ...checkTriggers(evidence),
    ...runs.flatMap((run) => [...checkEnded(run), ...checkTransitions(run)]),
    ...checkSteps(runs, marks),
    ...checkLogs(logs, runs),
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

/** Lines come with the numbers 1, 2, 3 and so on, once, up to the last one that the step wrote. */
function checkLogs(logs: readonly LogEvidence[], runs: readonly RunEvidence[]): readonly Violation[] {
  const steps = new Map(runs.flatMap(({ jobs }) => jobs.flatMap(({ steps: own }) => own.map((s) => [s.stepRunId, s]))));
  return logs.flatMap(({ stepRunId, written, seen }): readonly Violation[] => {
    const found: Violation[] = [];
    const say = (kind: Violation["kind"], text: string) => found.push({ kind, text: `log of ${stepRunId}: ${text}` });
    const come = new Set<number>();
    let next = 1;
    for (const { number, text } of seen) {
      if (number > next) say("lost", `line ${number} came when ${next} was due`);
      else if (come.has(number)) say("doubled", `line ${number} came again`);
      else if (number < next) say("reordered", `line ${number} came behind ${next - 1}`);
      come.add(number);
      if (text !== `line ${number}`) say("wrong", `line ${number} reads ${JSON.stringify(text)}`);
      next = Math.max(next, number + 1);
    }
    if (steps.get(stepRunId)?.status === "success" && next <= written) {
      say("lost", `it ends with line ${next - 1} of ${written}`);
    }
    return found;
  });
}
