/** The checker of a scenario: it reads the evidence and answers the violations. Pure. */
import { checkCommands } from "./commands.ts";
import { checkCommitStatuses } from "./commit-statuses.ts";
import type { Evidence, RunEvidence, Violation } from "./evidence.ts";
import { checkExclusion } from "./exclusion.ts";
import { checkLogs } from "./logs.ts";
import { checkLosses, isLostWithItsAgents } from "./losses.ts";
import { checkOutcomes } from "./outcomes.ts";
import { checkProjections } from "./projections.ts";
import { checkSecrets } from "./secrets.ts";
import { checkStarts, promisedTriggers } from "./starts.ts";
import { checkSteps } from "./steps.ts";
import { checkTokens } from "./tokens.ts";
import { checkTransitions } from "./transitions.ts";

const FINAL: readonly string[] = ["success", "failed", "cancelled", "partial"];

/** Every violation of a promise that the evidence shows. Empty when all promises were kept. */
export function check(collected: Evidence): readonly Violation[] {
  const evidence = { ...collected, acknowledged: [...collected.acknowledged, ...promisedTriggers(collected)] };
  const { runs, marks, deadLetters } = evidence;
  return [
    ...checkTriggers(evidence),
    ...[...runs, ...(evidence.attackers ?? [])].flatMap((run) => [
      ...checkEnded(run),
      ...checkTransitions(run),
      ...checkProjections(run),
      ...checkTokens(run),
    ]),
    ...checkOutcomes(evidence),
    ...checkLosses(evidence),
    ...checkCommands(evidence),
    ...checkSteps(runs, marks),
    ...checkExclusion(evidence),
    ...checkLogs(evidence),
    ...checkSecrets(evidence),
    ...checkStarts(evidence),
    ...checkCommitStatuses(evidence),
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

function checkEnded({ runId, status, settled }: RunEvidence): readonly Violation[] {
  if (!FINAL.includes(status)) return [{ kind: "stuck", text: `run ${runId} is still ${status}` }];
  return settled ? [] : [{ kind: "stuck", text: `run ${runId} has ended and still owes effects` }];
}
