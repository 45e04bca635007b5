/** Events of agents in MongoDB. */
import { type AgentEvent, type AgentEventOwner, type AgentEventStore, ownerOf } from "../agent-events.ts";
import { type Connection, insertAbsent } from "./connection.ts";

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
    async known(agentId, eventIds) {
      const $in = eventIds.map((eventId) => idOf(agentId, eventId));
      const found = await collection.find({ _id: { $in } }, { projection: { _id: 1 } }).toArray();
      return new Set(found.map(({ _id }) => _id.slice(agentId.length + 1)));
    },
    count: (owner) => collection.countDocuments({ owner }),
    async list(owner, { page, pageSize, descending }) {
      const direction = descending ? -1 : 1;
      const [total, found] = await Promise.all([
        collection.countDocuments({ owner }),
        collection
          .find({ owner })
          .sort({ receivedAt: direction, _id: direction })
          .skip((page - 1) * pageSize)
          .limit(pageSize)
          .toArray(),
      ]);
      return { list: found.map(({ body }) => body), total };
    },
  };
}

function idOf(agentId: string, eventId: string): string {
  return `${agentId}/${eventId}`;
}
