/** The store of agent events in MongoDB. */
import type { AgentId } from "../../domain/ids.ts";
import {
  afterAgent,
  type AgentEvent,
  type AgentEventOwner,
  type AgentEventStore,
  BEYOND_AGENTS,
  ownerOf,
} from "../ports/agent-events.ts";
import { type Connection, insertAbsent } from "./connection.ts";
import { readPage } from "./pages.ts";

interface EventDocument {
  readonly _id: string;
  readonly owner: AgentEventOwner;
  readonly receivedAt: number;
  readonly body: AgentEvent;
}

export function agentEventStore(connection: Connection): AgentEventStore {
  const collection = connection.collection<EventDocument>("agent_events");
  return {
    append: (events) =>
      insertAbsent(
        connection.collection("agent_events"),
        events.map((body) => ({
          _id: idOf(body.agentId, body.eventId),
          owner: ownerOf(body),
          receivedAt: body.receivedAt,
          body,
        })),
      ),
    async storedIds(agentId, eventIds) {
      const $in = eventIds.map((eventId) => idOf(agentId, eventId));
      const found = await collection.find({ _id: { $in } }, { projection: { _id: 1 } }).toArray();
      return new Set(found.map(({ _id }) => _id.slice(agentId.length + 1)));
    },
    count: (owner) => collection.countDocuments({ owner }),
    async list(owner, request) {
      const { documents, total } = await readPage(
        { collection, filter: { owner }, order: ["receivedAt", "_id"] },
        request,
      );
      return { list: documents.map(({ body }) => body), total };
    },
    async nextAgent(after) {
      const owner = { $gt: afterAgent(after) as AgentId, $lt: BEYOND_AGENTS as AgentId };
      const found = await collection.findOne({ owner }, { sort: { owner: 1 }, projection: { owner: 1 } });
      return found?.owner as AgentId | undefined;
    },
    async forget(agentId, before) {
      await collection.deleteMany({ owner: agentId, receivedAt: { $lt: before } });
    },
  };
}

function idOf(agentId: string, eventId: string): string {
  return `${agentId}/${eventId}`;
}
