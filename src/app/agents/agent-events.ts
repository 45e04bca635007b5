/** Lists the events that agents reported about the steps of a run. */
import { z } from "zod";
import type { AgentId, RunId, StepRunId } from "../../domain/ids.ts";
import type { AgentEvent } from "../../stores/ports/agent-events.ts";
import type { AgentsContext } from "./context.ts";
import type { Caller } from "../identity/access.ts";
import { pageRequest, placedListFields, placedListView, type PlacedListView, sortField } from "../lists.ts";
import { id, shape, time } from "../shapes.ts";
import { reachRun } from "../reaching.ts";
import { rfc3339 } from "../times.ts";

export const listAgentEventsQuery = z.strictObject({
  ...placedListFields,
  sort: sortField(["receivedAt"], "receivedAt"),
});

export const AgentEventShape = shape("AgentEvent", () => ({
  eventId: z.string(),
  agentId: id<AgentId>(),
  stepRunId: id<StepRunId>().nullable(),
  type: z.string(),
  subject: z.string(),
  /** By the agent's clock. */
  time,
  receivedAt: time,
  data: z.unknown(),
}));

type AgentEventView = z.infer<typeof AgentEventShape>;

/**
 * Events that agents reported about the steps of a run; the transitions that the control plane recorded are the
 * timeline. Throws `not_found` for an unknown run.
 */
export async function listAgentEvents(
  context: AgentsContext,
  caller: Caller,
  { runId, ...query }: z.output<typeof listAgentEventsQuery> & { readonly runId: RunId },
): Promise<PlacedListView<AgentEventView>> {
  await reachRun(context, caller, "readEvents", runId);
  const found = await context.stores.agentEvents.list(runId, pageRequest(query));
  const placeOf = ({ receivedAt, agentId, eventId }: AgentEvent) => ({ at: receivedAt, id: `${agentId}/${eventId}` });
  return placedListView(found, query, placeOf, view);
}

function view({ eventId, agentId, stepRunId, type, subject, receivedAt, data, ...event }: AgentEvent): AgentEventView {
  return {
    eventId,
    agentId,
    stepRunId,
    type,
    subject,
    time: rfc3339(event.time),
    receivedAt: rfc3339(receivedAt),
    data: JSON.parse(data) as unknown,
  };
}
