/** Compares published events with the table of events. */
import type { z } from "zod";
import { type EventKind, payloadOf, RUN_EVENTS } from "../../src/domain/event-table/run-events.ts";
import type { EventObject, RunEvent } from "../../src/domain/events.ts";
import { SYSTEM_EVENTS, systemPayloadOf } from "../../src/domain/event-table/system-events.ts";
import type { SystemEvent } from "../../src/domain/system-events.ts";
import { type CloudEvent, cloudEvent, systemCloudEvent } from "../../src/app/events/cloud-event.ts";

/** Every type of the table, with the schema of its data. */
const SCHEMAS: ReadonlyMap<string, ReturnType<typeof payloadOf>> = new Map(
  Object.entries(RUN_EVENTS).flatMap(([object, kinds]) =>
    Object.entries<EventKind>(kinds).map(
      ([lifecycle, kind]) => [`${object}.${lifecycle}`, payloadOf(object as EventObject, kind).strict()] as const,
    ),
  ),
);

/** The same of system events. */
const SYSTEM_SCHEMAS: ReadonlyMap<string, ReturnType<typeof payloadOf>> = new Map(
  Object.entries(SYSTEM_EVENTS).flatMap(([object, kinds]) =>
    Object.entries<EventKind>(kinds).map(
      ([lifecycle, kind]) => [`${object}.${lifecycle}`, systemPayloadOf(kind).strict()] as const,
    ),
  ),
);

/** Of what happens to runs. */
export const RUN_EVENT_TYPES: readonly string[] = [...SCHEMAS.keys()];
export const EVENT_TYPES: readonly string[] = [...RUN_EVENT_TYPES, ...SYSTEM_SCHEMAS.keys(), "agent.*"];

/** What of an event is not as the table says; undefined when nothing is. */
export function eventProblem(event: RunEvent): string | undefined {
  return problemOf(cloudEvent(event, "svc"), SCHEMAS.get(`${event.object}.${event.lifecycle}`));
}

/** {@link eventProblem} of a system event that the control plane has written. */
export function systemEventProblem(event: SystemEvent): string | undefined {
  return problemOf(systemCloudEvent(event, "svc"), SYSTEM_SCHEMAS.get(`${event.object}.${event.lifecycle}`));
}

/** `schema`: that of the event; the type of a pushed event does not name it. */
function problemOf({ type, data }: CloudEvent, schema: z.ZodObject | undefined): string | undefined {
  if (schema === undefined) return `${type} is not in the table of events`;
  const { error } = schema.safeParse(data);
  return error && `${type} ${JSON.stringify(data)}: ${error.message}`;
}
