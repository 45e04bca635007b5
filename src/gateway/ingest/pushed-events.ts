/** Events as agents push them, their records, and the verdicts on them. */
import type { AgentId, StepRunId } from "../../domain/ids.ts";
import type { AgentEvent } from "../../stores/ports/agent-events.ts";

/** An event as the agent sent it, not validated yet. */
export interface PushedEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly dataJson: string;
  /** Empty for an event about the agent itself. */
  readonly stepRunId: StepRunId | "";
  readonly token: number;
}

export interface EventVerdict {
  readonly id: string;
  readonly verdict: "accepted" | "duplicate" | "stale" | "invalid";
  /** Why the event was not accepted; empty for `accepted`. */
  readonly reason: string;
}

/** The record to store for an event. `place`: the step run and its run; null for an event of the agent itself. */
export function recordOf(
  { id, type, subject, timeMs, dataJson }: PushedEvent,
  agentId: AgentId,
  place: Pick<AgentEvent, "runId" | "stepRunId"> | null,
  receivedAt: number,
): AgentEvent {
  const data = dataJson === "" ? "{}" : dataJson;
  const { runId, stepRunId } = place ?? { runId: null, stepRunId: null };
  return { agentId, eventId: id, runId, stepRunId, type, subject, time: timeMs, receivedAt, data };
}

export function accepted(id: string): EventVerdict {
  return { id, verdict: "accepted", reason: "" };
}

export function duplicate(id: string): EventVerdict {
  return { id, verdict: "duplicate", reason: "an event with this id is stored already" };
}

export function invalid(id: string, reason: string): EventVerdict {
  return { id, verdict: "invalid", reason };
}
