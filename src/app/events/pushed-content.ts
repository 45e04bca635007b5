/** What an agent has pushed about a step, as it is shown with the event. */
import type { PushedContent } from "../../domain/events.ts";
import { rfc3339 } from "../times.ts";

export function contentView({ eventId, subject, time, data }: PushedContent) {
  return { eventId, subject, reportedAt: rfc3339(time), payload: JSON.parse(data) as Record<string, unknown> };
}
