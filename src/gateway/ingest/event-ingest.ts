/**
 * Takes events that agents push, and answers a verdict for each. Events of steps enter the logs of their runs; events of
 * agents about themselves are stored.
 */
import { LIFECYCLES, PUSHED_EVENT_BOUNDS } from "../../domain/events.ts";
import type { AgentId, StepRunId } from "../../domain/ids.ts";
import { SYSTEM_LIFECYCLES } from "../../domain/system-events.ts";
import type { IngestContext } from "./context.ts";
import { tellOwnEvents } from "./own-events.ts";
import { accepted, duplicate, type EventVerdict, invalid, type PushedEvent, recordOf } from "./pushed-events.ts";
import { type StepEvents, takeStepEvents } from "./step-event-ingest.ts";

/** Events that an agent may report about itself. */
const MAX_OWN_EVENTS = 10_000;
/** The end of the year 9999, the last one of RFC 3339, Unix milliseconds. */
const MAX_TIME_MS = 253_402_300_799_999;
const WORD = /^[a-z][a-z0-9_-]{0,63}$/;
/**
 * Last words of event types that only the control plane may use: an agent's event must not pass for one of its events.
 */
const RESERVED_WORDS: readonly string[] = [...LIFECYCLES, "online", "offline", "draining", "lost"];
/** The same of events about the agent itself. */
const RESERVED_OF_AGENT: readonly string[] = [...RESERVED_WORDS, ...SYSTEM_LIFECYCLES];

/**
 * Takes the acceptable events of one batch, and answers a verdict for each event, in their order. Rejects when the store
 * cannot be reached, and when a run does not take its events into its log in time; the same batch may then be sent again.
 */
export async function takeAgentEvents(
  context: IngestContext,
  agentId: AgentId,
  events: readonly PushedEvent[],
): Promise<readonly EventVerdict[]> {
  if (events.length > PUSHED_EVENT_BOUNDS.batchEvents) {
    return events.map(({ id }) => invalid(id, `a batch has at most ${PUSHED_EVENT_BOUNDS.batchEvents} events`));
  }
  const ids = events.map(({ id }) => id);
  const places = await context.stores.agentEvents.placesOf(agentId, ids);
  const taken = new Set<string>();
  const verdicts: EventVerdict[] = [];
  const own: { readonly at: number; readonly event: PushedEvent }[] = [];
  const ofSteps = new Map<StepRunId, StepEvents>();
  for (const [at, event] of events.entries()) {
    const { id } = event;
    const place = places.get(id);
    const problem = place === undefined ? problemOf(context, event) : undefined;
    const isRepeated = taken.has(id) || (place !== undefined && place.sequence === null);
    if (isRepeated) verdicts[at] = duplicate(id);
    else if (problem !== undefined) verdicts[at] = invalid(id, problem);
    else {
      taken.add(id);
      const stepRunId = place?.stepRunId ?? event.stepRunId;
      if (stepRunId === "") own.push({ at, event });
      else {
        const ofStep = ofSteps.get(stepRunId) ?? { stepRunId, events: [] };
        ofSteps.set(stepRunId, ofStep);
        ofStep.events.push({ at, event, sequence: place?.sequence ?? null });
      }
    }
  }
  if (own.length > 0) {
    const judged = await takeOwnEvents(
      context,
      agentId,
      own.map(({ event }) => event),
    );
    for (const [nth, verdict] of judged.entries()) verdicts[own[nth]!.at] = verdict;
  }
  // One step after the other: the steps of a run share its bound.
  for (const ofStep of ofSteps.values()) {
    for (const { at, ...verdict } of await takeStepEvents(context, agentId, ofStep)) verdicts[at] = verdict;
  }
  return verdicts;
}

async function takeOwnEvents(
  context: IngestContext,
  agentId: AgentId,
  events: readonly PushedEvent[],
): Promise<readonly EventVerdict[]> {
  const { stores, clock } = context;
  const room = Math.max(0, MAX_OWN_EVENTS - (await stores.agentEvents.count(agentId)));
  const stored = events.slice(0, room).map((event) => recordOf(event, agentId, null, clock.now()));
  // First: a repeat of an event that is stored here already is a duplicate.
  await tellOwnEvents(context, agentId, stored);
  await stores.agentEvents.append(stored);
  return events.map(({ id }, at) =>
    at < room ? accepted(id) : invalid(id, `the agent has ${MAX_OWN_EVENTS} events already`),
  );
}

function problemOf(
  { eventNamespace }: IngestContext,
  { id, type, subject, timeMs, dataJson, stepRunId }: PushedEvent,
): string | undefined {
  if (id === "" || id.length > 128) return "an id has 1 to 128 characters";
  const object = stepRunId === "" ? "agent" : "step";
  const prefix = `${eventNamespace}.${object}.`;
  if (!type.startsWith(prefix)) {
    return `the type of an event ${object === "step" ? "with" : "without"} a step run begins with ${prefix}`;
  }
  const word = type.slice(prefix.length);
  if (!WORD.test(word)) return `the last word of a type must match ${WORD.source}`;
  if ((object === "step" ? RESERVED_WORDS : RESERVED_OF_AGENT).includes(word)) {
    return `the word ${word} is reserved for the control plane: choose another one`;
  }
  if (subject.length > 256) return "a subject has at most 256 characters";
  if (!(timeMs >= 0 && timeMs <= MAX_TIME_MS)) return "the time must be in Unix milliseconds";
  if (Buffer.byteLength(dataJson) > PUSHED_EVENT_BOUNDS.dataBytes)
    return `data has at most ${PUSHED_EVENT_BOUNDS.dataBytes} bytes`;
  if (dataJson === "") return undefined;
  if (!isJsonObject(dataJson)) return "data must be a JSON object";
  return depthOf(dataJson) > PUSHED_EVENT_BOUNDS.dataLevels
    ? `data has at most ${PUSHED_EVENT_BOUNDS.dataLevels} levels`
    : undefined;
}

/** How deep objects and lists are nested in a JSON text. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [mark] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (mark === "{" || mark === "[") deepest = Math.max(deepest, ++depth);
    else if (mark === "}" || mark === "]") depth--;
  }
  return deepest;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
