/**
 * Checks the losses of agents: a job is given up only when its agent was really away, and an outage of Redis or of the
 * store, shorter than a step lease, is no loss of an agent. Pure.
 */
import type { Absence, Evidence, JobEvidence, RunEvidence, Span, Violation } from "./evidence.ts";

/** The reasons of a job's end after which the whole job is tried again. */
export const LOSSES: readonly string[] = ["agent_lost", "dispatch_failed"];
/** The lease counts from the last heartbeat that was answered, so from up to this long before the absence. */
const HEARTBEAT_MS = 3_000;
/** An agent that was away needs about this long to reach the control plane again. */
const RETURN_MS = 5_000;
/** A killed agent that comes back says at once that its work is gone; one that does not is missed after its lease. */
const NOTICED_MS = 60_000;

/** A run may fail when one of its jobs lost the agent of its first attempt and the agent of its last one. */
export function isLostWithItsAgents({ status, jobs }: RunEvidence): boolean {
  return status === "failed" && jobs.some(({ attempt, reason }) => attempt > 1 && LOSSES.includes(reason));
}

export function checkLosses({ runs, absences, outages }: Pick<Evidence, "runs" | "absences" | "outages">) {
  return runs.flatMap((run) =>
    run.jobs.flatMap((job): readonly Violation[] => {
      const isLost = LOSSES.includes(job.reason) || job.steps.some(({ reason }) => reason === "agent_lost");
      if (!isLost || job.reused || isExcused(run, job, absences, outages)) return [];
      const text = `job ${job.jobId} of run ${run.runId} ended with ${job.reason} although its agent ${job.agentId} was not away`;
      return [{ kind: "wrong", text }];
    }),
  );
}

/** True when the agent of the job was really away, so that the job may be given up. */
export function isExcused(
  run: Pick<RunEvidence, "events">,
  job: Pick<JobEvidence, "jobId" | "agentId" | "leaseMs" | "reason">,
  absences: readonly Absence[],
  outages: readonly Span[],
): boolean {
  const own = run.events.filter(({ jobId }) => jobId === job.jobId);
  const begunAt = own.find(({ object, lifecycle }) => object === "job" && lifecycle === "started")?.timeMs ?? 0;
  const lostAt = own.findLast(({ object }) => object === "job")?.timeMs ?? Infinity;
  const ofAgent = absences.filter(({ agentId }) => agentId === job.agentId);
  if (job.reason === "dispatch_failed") {
    return ofAgent.some(
      ({ how, fromMs, untilMs }) => how === "refusing" && fromMs <= lostAt && begunAt <= untilMs + RETURN_MS,
    );
  }
  const wasKilled = ofAgent.some(({ how, fromMs, untilMs }) => {
    return how === "killed" && fromMs <= lostAt && begunAt <= untilMs && lostAt <= untilMs + NOTICED_MS;
  });
  if (wasKilled) return true;
  const silent = ofAgent.filter(({ how }) => how !== "refusing");
  // What could not renew the lease, whichever of them it was.
  return joined([...silent, ...outages]).some(({ fromMs, untilMs }) => {
    return fromMs <= lostAt && begunAt <= untilMs && Math.min(untilMs, lostAt) - fromMs >= job.leaseMs - HEARTBEAT_MS;
  });
}

/** Spans that follow each other before an agent can have returned count as one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = all.at(-1);
    if (last === undefined || span.fromMs > last.untilMs + RETURN_MS) all.push(span);
    else all[all.length - 1] = { fromMs: last.fromMs, untilMs: Math.max(last.untilMs, span.untilMs) };
  }
  return all;
}
