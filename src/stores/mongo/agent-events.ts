/** The store of agent events in MongoDB. */
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId, StepRunId } from "../../domain/ids.ts";
import {
  afterAgent,
  type AgentEvent,
  type AgentEventOwner,
  type AgentEventStore,
  BEYOND_AGENTS,
  type EventPlace,
  ownerOf,
} from "../ports/agent-events.ts";
import { type Connection, insertAbsent, isDuplicateKey, untilMajority } from "./connection.ts";
import { readPage } from "./pages.ts";

interface EventDocument {
  readonly _id: string;
  readonly owner: AgentEventOwner;
  readonly receivedAt: number;
  readonly body: AgentEvent;
  /** Step run and sequence, unique; absent for an event without a sequence. */
  readonly place?: string;
}

/** Attempts to number events while other gateways number events of the same step run. */
const NUMBERING_ATTEMPTS = 50;
/** Sequences sort as numbers. */
const SEQUENCE_DIGITS = 9;

export function agentEventStore(connection: Connection): AgentEventStore {
  const collection = connection.collection<EventDocument>("agent_events");
  return {
    append: (events) =>
      insertAbsent(
        connection.collection("agent_events"),
        events.map((body) => ({ ...documentOf(body) })),
      ),
    async appendToStep(events) {
      const [first] = events;
      if (first === undefined) return new Map();
      const { agentId } = first;
      const stepRunId = first.stepRunId!;
      const ids = events.map(({ eventId }) => eventId);
      for (let attempt = 1; attempt <= NUMBERING_ATTEMPTS; attempt++) {
        const places = await placesOf(agentId, ids);
        const fresh = [...new Map(events.map((event) => [event.eventId, event])).values()].filter(
          ({ eventId }) => !places.has(eventId),
        );
        if (fresh.length === 0) {
          const stored = ids.map((eventId) => idOf(agentId, eventId));
          if ((await untilMajority(collection, [...new Set(stored)])) === "stored") return places;
          continue;
        }
        const newest = await newestOf(stepRunId);
        const documents = fresh.map((event, at): EventDocument => {
          const sequence = newest + 1 + at;
          const body = { ...event, sequence };
          return { ...documentOf(body), place: placeOf(stepRunId, sequence) };
        });
        // One after the other, and none behind one that another gateway was first with: so there is no gap.
        await collection.insertMany(documents, { ordered: true }).catch((error: unknown) => {
          if (!isDuplicateKey(error)) throw error;
        });
      }
      throw new MillraceError("unavailable", "too many gateways store events of one step run at once: try again");
    },
    placesOf,
    async ofStep(stepRunId, from, through) {
      const place = { $gte: placeOf(stepRunId, from), $lte: placeOf(stepRunId, through) };
      return (await collection.find({ place }).sort({ place: 1 }).toArray()).map(({ body }) => body);
    },
    async dropAbove(stepRunId, sequence) {
      await collection.deleteMany({ place: { $gt: placeOf(stepRunId, sequence), $lte: lastPlaceOf(stepRunId) } });
    },
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

  async function placesOf(agentId: AgentId, eventIds: readonly string[]): Promise<ReadonlyMap<string, EventPlace>> {
    const $in = eventIds.map((eventId) => idOf(agentId, eventId));
    const projection = { "body.stepRunId": 1, "body.sequence": 1 };
    const found = await collection.find({ _id: { $in } }, { projection }).toArray();
    return new Map(
      found.map(({ _id, body: { stepRunId, sequence = null } }) => {
        return [_id.slice(agentId.length + 1), { stepRunId, sequence }];
      }),
    );
  }

  /** Sequence of the newest event of the step run; 0 for none. */
  async function newestOf(stepRunId: StepRunId): Promise<number> {
    const place = { $gt: placeOf(stepRunId, 0), $lte: lastPlaceOf(stepRunId) };
    const newest = await collection.findOne({ place }, { sort: { place: -1 }, projection: { place: 1 } });
    return newest === null ? 0 : Number(newest.place!.slice(-SEQUENCE_DIGITS));
  }
}

function documentOf(body: AgentEvent): EventDocument {
  const { agentId, eventId, receivedAt } = body;
  return { _id: idOf(agentId, eventId), owner: ownerOf(body), receivedAt, body };
}

function placeOf(stepRunId: StepRunId, sequence: number): string {
  return `${stepRunId}/${String(sequence).padStart(SEQUENCE_DIGITS, "0")}`;
}

function lastPlaceOf(stepRunId: StepRunId): string {
  return placeOf(stepRunId, 10 ** SEQUENCE_DIGITS - 1);
}

function idOf(agentId: string, eventId: string): string {
  return `${agentId}/${eventId}`;
}
