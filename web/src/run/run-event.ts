/** One event of a run, in the shape that the view reads: from a live channel or from the timeline. Pure. */
import type { Schemas } from "../../../clients/typescript/src/api-types.ts";

export interface RunEvent {
  /** Position in the run, from 1 without gaps. */
  readonly number: number;
  readonly time: string;
  readonly object: "pipeline" | "job" | "step" | "approval";
  /** The last word of the event's type. Agents push events with words of their own. */
  readonly lifecycle: string;
  readonly status: string;
  readonly jobId: string | null;
  readonly stepRunId: string | null;
  readonly attempt: number;
  readonly retryOf: string | null;
  readonly reason: string;
  readonly agentId: string | null;
  readonly exitCode: number | null;
  /** Position of the step in its job, from 0; null in the timeline and for other objects. */
  readonly stepIndex: number | null;
  /** Name of what the event is about, for people; empty in live events. */
  readonly name: string;
  readonly cause: string;
  readonly by: string;
  readonly waitingFor: string | null;
  readonly text: string;
  readonly approvalId: string | null;
  readonly comment: string;
  /** The event was pushed by an agent or a step, and changes no status. */
  readonly isPushed: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** The data of a message `event` of the channel of a run; null for what is no event. */
export function readLiveEvent(data: unknown): RunEvent | null {
  const event = data as Fields | null;
  const raw = event?.["raw"] as Fields | undefined;
  const fields = raw?.["data"] as Fields | undefined;
  const number = numberOrNull(event?.["eventNumber"]);
  if (event === null || fields === undefined || number === null) return null;
  const base = readFields(fields);
  return {
    ...base,
    number,
    time: text(fields["time"]) || text(raw?.["time"]),
    object: text(event["object"]) as RunEvent["object"],
    lifecycle: text(event["eventType"]).split(".").at(-1)!,
    status: text(event["status"]),
    jobId: textOrNull(event["jobId"]),
    stepRunId: textOrNull(event["stepRunId"]),
    isPushed: typeof fields["eventId"] === "string",
  };
}

/** An item of the timeline of a run. */
export function readTransition(item: Schemas["Transition"]): RunEvent {
  return {
    ...readFields(item),
    number: item.number,
    time: item.time,
    object: item.object,
    lifecycle: item.lifecycle,
    status: item.status,
    jobId: item.jobId,
    stepRunId: item.stepRunId,
    isPushed: item.lifecycle === "pushed",
  };
}

function readFields(
  fields: Fields,
): Omit<RunEvent, "number" | "time" | "object" | "lifecycle" | "status" | "jobId" | "stepRunId" | "isPushed"> {
  return {
    attempt: numberOrNull(fields["attempt"]) ?? 1,
    retryOf: textOrNull(fields["retryOf"]),
    reason: text(fields["reason"]),
    agentId: textOrNull(fields["agentId"]),
    exitCode: numberOrNull(fields["exitCode"]),
    stepIndex: typeof fields["jobIndex"] === "number" ? numberOrNull(fields["index"]) : null,
    name: text(fields["name"]),
    cause: text(fields["cause"]),
    by: text(fields["by"]),
    waitingFor: textOrNull(fields["waitingFor"]),
    text: text(fields["text"]),
    approvalId: textOrNull(fields["approvalId"]),
    comment: text(fields["comment"]),
  };
}
