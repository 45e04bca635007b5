/**
 * Events of steps on their way into the logs of their runs. The store numbers the events of a step run, and a command tells
 * the run up to which number they are stored: a gateway that dies in between, and a repeat, lose and double nothing. An
 * event is accepted once the log of its run has it.
 */
import { isGrantOf, isHeld, type StepState } from "../../../actors/step/state.ts";
import { storeAndWait } from "../../app/commands/commands.ts";
import { MillraceError } from "../../domain/errors.ts";
import { MAX_PUSHED_EVENTS } from "../../domain/events.ts";
import { type AgentId, newId, type StepRunId } from "../../domain/ids.ts";
import type { IngestContext } from "./context.ts";
import { accepted, duplicate, type EventVerdict, invalid, type PushedEvent, recordOf } from "./pushed-events.ts";

/** Events of a batch that belong to one step run. */
export interface StepEvents {
  readonly stepRunId: StepRunId;
  readonly events: StepEvent[];
}

interface StepEvent {
  /** Position in the batch. */
  readonly at: number;
  readonly event: PushedEvent;
  /** The number of the event in its step run; null when it is not stored yet. */
  readonly sequence: number | null;
}

type PlacedVerdict = EventVerdict & { readonly at: number };

/** Rejects when the run has not taken the events into its log in time: they may be sent again. */
export async function takeStepEvents(
  context: IngestContext,
  agentId: AgentId,
  { stepRunId, events }: StepEvents,
): Promise<readonly PlacedVerdict[]> {
  const { aggregates, agentEvents } = context.stores;
  const verdicts: PlacedVerdict[] = [];
  const say = (at: number, verdict: EventVerdict) => verdicts.push({ at, ...verdict });
  const found = await aggregates.findStep(stepRunId);
  const step = found?.actor.state as StepState | undefined;
  const fresh: StepEvent[] = [];
  const waiting: (StepEvent & { readonly sequence: number })[] = [];
  for (const taken of events) {
    const { at, event, sequence } = taken;
    if (sequence !== null && sequence <= (step?.eventsThrough ?? 0)) say(at, duplicate(event.id));
    else if (step === undefined || !isGrantOf(step, agentId, event.token)) say(at, notGranted(event.id));
    else if (!isHeld(step)) say(at, ended(event.id));
    else if (sequence === null) fresh.push(taken);
    else waiting.push({ ...taken, sequence });
  }
  if (step === undefined || fresh.length + waiting.length === 0) return verdicts;

  const { runId } = step;
  const room = Math.max(0, MAX_PUSHED_EVENTS - (fresh.length > 0 ? await agentEvents.count(runId) : 0));
  for (const { at, event } of fresh.slice(room)) say(at, noRoom(event.id));
  const stored = fresh.slice(0, room);
  const now = context.clock.now();
  const places = await agentEvents.appendToStep(
    stored.map(({ event }) => recordOf(event, agentId, { runId, stepRunId }, now)),
  );
  for (const taken of stored) waiting.push({ ...taken, sequence: places.get(taken.event.id)!.sequence! });
  if (waiting.length === 0) return verdicts;
  // An older node would not know the command. The log takes the events with a later one.
  const through = aggregates.takesPushedEvents ? await takenThrough(context, step, waiting) : Infinity;
  const isOver = through < Infinity && waiting.some(({ sequence }) => sequence > through);
  const refused = isOver && (await isStillHeld(context, stepRunId)) ? noRoom : ended;
  for (const { at, event, sequence } of waiting) say(at, sequence <= through ? accepted(event.id) : refused(event.id));
  if (isOver) await agentEvents.dropAbove(stepRunId, through);
  return verdicts;
}

/** Tells the run that events of the step are stored; answers up to which number its log has them. */
async function takenThrough(
  context: IngestContext,
  { runId, stepRunId, grant }: StepState,
  waiting: readonly { readonly sequence: number }[],
): Promise<number> {
  const { agentId, token } = grant!;
  const through = Math.max(...waiting.map(({ sequence }) => sequence));
  const body = { kind: "pushEvents", stepRunId, agentId, token, through } as const;
  const verdict = await storeAndWait(context, { id: newId("cmd"), rootId: runId, body });
  if (verdict !== null) return verdict.through ?? 0;
  throw new MillraceError("unavailable", "no worker has taken the events into the log of their run within 5 s");
}

async function isStillHeld({ stores }: IngestContext, stepRunId: StepRunId): Promise<boolean> {
  const found = await stores.aggregates.findStep(stepRunId);
  return found !== undefined && isHeld(found.actor.state as StepState);
}

function notGranted(id: string): EventVerdict {
  return { id, verdict: "stale", reason: "the step run is not granted to this agent under this token" };
}

function ended(id: string): EventVerdict {
  return { id, verdict: "stale", reason: "the step run has ended" };
}

function noRoom(id: string): EventVerdict {
  return invalid(id, `the run has ${MAX_PUSHED_EVENTS} events already`);
}
