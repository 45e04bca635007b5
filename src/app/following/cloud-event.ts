/** An event of a run as a CloudEvent. Source: CloudEvents 1.0. */
import { eventSubject, eventType, type RunEvent } from "../../domain/events.ts";

export interface CloudEvent {
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

export function cloudEvent(event: RunEvent, eventNamespace: string): CloudEvent {
  const { runId, number, status, timeMs, data } = event;
  return {
    type: eventType(eventNamespace, event),
    subject: eventSubject(event),
    data: { ...data, runId, number, status, time: new Date(timeMs).toISOString() },
  };
}

/** An event as viewers get it; `raw` is the event as `StreamEvents` of stream.v1 carries it. */
export function statusEvent(event: RunEvent, eventNamespace: string) {
  const raw = cloudEvent(event, eventNamespace);
  return {
    pipelineId: event.pipelineId,
    jobId: event.jobId,
    stepRunId: event.stepRunId,
    eventType: raw.type,
    status: event.status,
    subject: raw.subject,
    raw,
  };
}
