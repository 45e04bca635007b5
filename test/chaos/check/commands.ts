/** Checks what was acknowledged to clients that paused, stopped or approved: it happened, and once. Pure. */
import type { AcknowledgedPause, Evidence, RunEvidence, Violation } from "./evidence.ts";
import { groupBy } from "./groups.ts";

/** Two processes of one machine read its clock. */
const CLOCK_MS = 250;

export function checkCommands(evidence: Evidence): readonly Violation[] {
  const pauses = groupBy(evidence.pauses, ({ runId }) => runId);
  return evidence.runs.flatMap((run) => [
    ...checkPauses(run, pauses.get(run.runId) ?? [], evidence.unansweredPauses.includes(run.runId)),
    ...checkStop(run, evidence.stops.includes(run.runId)),
    ...checkVotes(run, evidence),
  ]);
}

/**
 * An acknowledged pause has paused the run until the resume was sent: no step was dispatched meanwhile. A run that was
 * never paused has no pause.
 */
function checkPauses(
  { runId, events }: RunEvidence,
  pauses: readonly AcknowledgedPause[],
  isUnanswered: boolean,
): readonly Violation[] {
  const found: Violation[] = [];
  const say = (kind: Violation["kind"], text: string) => found.push({ kind, text: `run ${runId}: ${text}` });
  const paused = events.filter(({ lifecycle }) => lifecycle === "paused");
  if (paused.length < pauses.length)
    say("lost", `${pauses.length} pauses were acknowledged, ${paused.length} happened`);
  if (paused.length > pauses.length && !isUnanswered)
    say("doubled", `${pauses.length} pauses were acknowledged, ${paused.length} happened`);
  pauses.slice(0, paused.length).forEach(({ resumeSentAt }, at) => {
    const { number, timeMs } = paused[at]!;
    const resumed = events.find((event) => event.lifecycle === "resumed" && event.number > number);
    const until = resumed?.number ?? Infinity;
    if (timeMs > resumeSentAt + CLOCK_MS) say("wrong", "it paused after the pause had been acknowledged");
    if (resumed !== undefined && resumed.timeMs < resumeSentAt - CLOCK_MS)
      say("wrong", "it resumed without being asked");
    const dispatched = events.filter((event) => {
      const isDispatch = event.object === "step" && event.lifecycle === "queued";
      return isDispatch && event.number > number && event.number < until;
    });
    for (const { stepRunId } of dispatched) say("wrong", `step ${stepRunId} was dispatched while the run was paused`);
  });
  return found;
}

function checkStop({ runId, status, events }: RunEvidence, wasStopped: boolean): readonly Violation[] {
  if (!wasStopped) return [];
  const isKept = status === "cancelled" && events.some(({ lifecycle }) => lifecycle === "stopping");
  return isKept ? [] : [{ kind: "lost", text: `run ${runId} is ${status} although its stop was acknowledged` }];
}

/** An acknowledged vote is in the snapshot once and in the events once, and no approval ended without a vote. */
function checkVotes({ runId, approvals, events }: RunEvidence, { votes }: Evidence): readonly Violation[] {
  return approvals.flatMap(({ approvalId, status, approvers, rejecter }) => {
    const found: Violation[] = [];
    const say = (kind: Violation["kind"], text: string) =>
      found.push({ kind, text: `approval ${approvalId} of run ${runId}: ${text}` });
    const cast = votes.filter((vote) => vote.approvalId === approvalId);
    const published = (lifecycle: string) =>
      events.filter(({ data, ...event }) => data?.["approvalId"] === approvalId && event.lifecycle === lifecycle)
        .length;
    for (const { word, stored, told } of [
      { word: "approve", stored: approvers.length, told: published("approved") },
      { word: "reject", stored: rejecter === null ? 0 : 1, told: published("rejected") },
    ] as const) {
      const due = cast.some((vote) => vote.word === word) ? 1 : 0;
      const sums = `${stored} in the snapshot and ${told} in the events instead of ${due}`;
      if (stored < due || told < due) say("lost", `votes to ${word}: ${sums}`);
      if (stored > due || told > due) say("doubled", `votes to ${word}: ${sums}`);
    }
    if (status === "pending" && cast.length > 0) say("lost", "it is pending although a vote was acknowledged");
    return found;
  });
}
