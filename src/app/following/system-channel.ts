/** The system events of a tenant, or of the installation: each as it is stored, with resume by number. */
import { z } from "zod";
import type { SystemEvent } from "../../domain/system-events.ts";
import { followSystemLog, logFields, newestOf, sightOf, type SystemUpdate } from "../system-events/system-log.ts";
import { systemCloudEvent } from "../events/cloud-event.ts";
import { afterNumber, liveChannel, type LiveMessage } from "./live-channel.ts";

export const SYSTEM_CHANNEL = liveChannel({
  name: "system",
  about:
    "Follows the system events of a tenant or of the installation: agents, definitions, projects, settings, identity.",
  params: z.strictObject({
    ...logFields,
    /** Number of the last event that the client has; without it, the newest one. */
    after: afterNumber.optional(),
  }),
  async *follow({ context, systemEvents }, caller, { params: { after, ...wanted }, abort }) {
    const sight = await sightOf(context, caller, wanted);
    const newest = await newestOf(context, sight, after);
    const from = after ?? newest;
    yield { type: "subscribed", json: JSON.stringify({ newest }), after: String(from) };
    for await (const update of followSystemLog(systemEvents, sight, { after: from, newest, abort })) {
      yield messageOf(update, context.eventNamespace);
    }
  },
});

function messageOf(update: SystemUpdate, eventNamespace: string): LiveMessage {
  const { type, number } = update;
  if (type === "event") return eventMessage(update.event, eventNamespace);
  const json = type === "skipped" ? JSON.stringify({ from: update.from, to: number }) : "null";
  return { type, json, after: String(number) };
}

/** Made once for all who follow the log here. */
const made = new WeakMap<SystemEvent, LiveMessage>();

function eventMessage(event: SystemEvent, eventNamespace: string): LiveMessage {
  let message = made.get(event);
  if (message === undefined) {
    const { number, object } = event;
    const raw = systemCloudEvent(event, eventNamespace);
    const json = JSON.stringify({ eventNumber: number, object, eventType: raw.type, subject: raw.subject, raw });
    made.set(event, (message = { type: "event", json, after: String(number) }));
  }
  return message;
}
