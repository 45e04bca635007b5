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
