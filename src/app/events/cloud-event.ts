/**
 * Events as CloudEvents 1.0. An event has one id and one source, whichever way it is told, so that a receiver of two ways
 * knows it again. Source: CloudEvents 1.0, "Required Attributes".
 */
import { contentView } from "./pushed-content.ts";
import { eventSubject, eventType, type RunEvent } from "../../domain/events.ts";
import type { SystemEvent } from "../../domain/system-events.ts";
import { rfc3339 } from "../times.ts";

export const SPEC_VERSION = "1.0";

export interface CloudEvent {
  readonly specversion: typeof SPEC_VERSION;
  /** Unique together with `source`. */
  readonly id: string;
  /** A URI reference: the path of the run, or of the log of system events. */
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  /** RFC 3339. */
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly data: Readonly<Record<string, unknown>>;
}

/** `place`: further fields of `data` for a receiver who does not know yet where the event belongs. */
export function cloudEvent(event: RunEvent, eventNamespace: string, place: CloudEvent["data"] = {}): CloudEvent {
  const { runId, number, status, timeMs, data, pushed } = event;
  const time = rfc3339(timeMs);
  return inEnvelope({
    id: `${runId}:${number}`,
    source: `/api/v1/pipelines/runs/${runId}`,
    type: eventType(eventNamespace, event),
    subject: eventSubject(event),
    time,
    data: { ...data, ...(pushed && contentView(pushed)), ...place, runId, number, status, time },
  });
}

export function systemCloudEvent(event: SystemEvent, eventNamespace: string): CloudEvent {
  const { log, number, object, lifecycle, timeMs, data } = event;
  const time = rfc3339(timeMs);
  return inEnvelope({
    id: `${log}:${number}`,
    source: `/api/v1/system-events?log=${log}`,
    type: `${eventNamespace}.${object}.${lifecycle}`,
    subject: `${object}:${data.id}`,
    time,
    data: { ...data, log, number, time },
  });
}

function inEnvelope(event: Omit<CloudEvent, "specversion" | "datacontenttype">): CloudEvent {
  const { data, ...attributes } = event;
  return { specversion: SPEC_VERSION, ...attributes, datacontenttype: "application/json", data };
}

/** An event as viewers of a step get it. `raw` has only the members that the contract of the channel names. */
export function statusEvent(event: RunEvent, eventNamespace: string) {
  const { type, subject, data } = cloudEvent(event, eventNamespace);
  return { ...briefEvent(event, type, subject), raw: { type, data, subject } };
}

/** An event as viewers of a run get it. */
export function liveEvent(event: RunEvent, eventNamespace: string) {
  const raw = cloudEvent(event, eventNamespace);
  return { ...briefEvent(event, raw.type, raw.subject), raw };
}

function briefEvent({ pipelineId, jobId, stepRunId, status }: RunEvent, type: string, subject: string) {
  return { pipelineId, jobId, stepRunId, eventType: type, status, subject };
}
