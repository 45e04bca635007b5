/** Compares published events with the table of events. */
import { type EventKind, payloadOf, RUN_EVENTS } from "../../src/domain/event-table/run-events.ts";
import type { EventObject, RunEvent } from "../../src/domain/events.ts";
import { cloudEvent } from "../../src/app/following/cloud-event.ts";

/** Every type of the table, with the schema of its data. */
const SCHEMAS: ReadonlyMap<string, ReturnType<typeof payloadOf>> = new Map(
  Object.entries(RUN_EVENTS).flatMap(([object, kinds]) =>
    Object.entries<EventKind>(kinds).map(
      ([lifecycle, kind]) => [`${object}.${lifecycle}`, payloadOf(object as EventObject, kind).strict()] as const,
    ),
  ),
);

export const EVENT_TYPES: readonly string[] = [...SCHEMAS.keys()];

/** What of an event is not as the table says; undefined when nothing is. */
export function eventProblem(event: RunEvent): string | undefined {
  const { type, data } = cloudEvent(event, "svc");
  const schema = SCHEMAS.get(`${event.object}.${event.lifecycle}`);
  if (schema === undefined) return `${type} is not in the table of events`;
  const { error } = schema.safeParse(data);
  return error && `${type} ${JSON.stringify(data)}: ${error.message}`;
}
