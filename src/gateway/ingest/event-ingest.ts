/** Stores events that agents report, and answers a verdict for each. Users who may read the run can list them. */
import { isGrantOf, isHeld, type StepState } from "../../../actors/step/state.ts";
import { LIFECYCLES } from "../../domain/events.ts";
import type { AgentId, StepRunId } from "../../domain/ids.ts";
import { SYSTEM_LIFECYCLES } from "../../domain/system-events.ts";
import { type AgentEvent, type AgentEventOwner, ownerOf } from "../../stores/ports/agent-events.ts";
import type { IngestContext } from "./context.ts";
import { tellOwnEvents } from "./own-events.ts";

const MAX_EVENTS_A_BATCH = 1_000;
/** Events that a run may have, and that an agent may report about itself. */
const MAX_EVENTS = 10_000;
const MAX_DATA_BYTES = 64 * 1024;
/** The greatest time of a `Date`. */
const MAX_TIME_MS = 8.64e15;
const WORD = /^[a-z][a-z0-9_-]{0,63}$/;
/**
 * Last words of event types that only the control plane may use: an agent's event must not pass for one of its events.
 */
const RESERVED_WORDS: readonly string[] = [...LIFECYCLES, "online", "offline", "draining", "lost"];
/** The same of events about the agent itself. */
const RESERVED_OF_AGENT: readonly string[] = [...RESERVED_WORDS, ...SYSTEM_LIFECYCLES];

/** An event as the agent sent it, not validated yet. */
export interface PushedEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly dataJson: string;
  /** Empty for an event about the agent itself. */
  readonly stepRunId: StepRunId | "";
  readonly token: number;
}

export interface EventVerdict {
  readonly id: string;
  readonly verdict: "accepted" | "duplicate" | "stale" | "invalid";
  /** Why the event was not accepted; empty for `accepted`. */
  readonly reason: string;
}

/** The result for an event that is not stored yet: the record to store, or why it is not stored. */
type Judged = AgentEvent | EventVerdict;

/**
 * Stores the acceptable events of one batch, and answers a verdict for each event, in their order. Rejects when the
 * store cannot be reached; the same batch may then be sent again.
 */
export async function takeAgentEvents(
  context: IngestContext,
  agentId: AgentId,
  events: readonly PushedEvent[],
): Promise<readonly EventVerdict[]> {
  if (events.length > MAX_EVENTS_A_BATCH) {
    return events.map(({ id }) => invalid(id, `a batch has at most ${MAX_EVENTS_A_BATCH} events`));
  }
  const { agentEvents } = context.stores;
  const taken = new Set(
    await agentEvents.storedIds(
      agentId,
      events.map(({ id }) => id),
    ),
  );
  const judge = new Judge(context, agentId);
  const fresh: AgentEvent[] = [];
  const verdicts: EventVerdict[] = [];
  for (const event of events) {
    const { id } = event;
    if (taken.has(id)) {
      verdicts.push({ id, verdict: "duplicate", reason: "an event with this id is stored already" });
      continue;
    }
    const judged = await judge.judge(event);
    if ("verdict" in judged) verdicts.push(judged);
    else {
      taken.add(id);
      fresh.push(judged);
      verdicts.push({ id, verdict: "accepted", reason: "" });
    }
  }
  // First: a repeat of an event that is stored here already is a duplicate.
  await tellOwnEvents(
    context,
    agentId,
    fresh.filter(({ runId }) => runId === null),
  );
  await agentEvents.append(fresh);
  return verdicts;
}

/** Validates the events of one batch. Each step and each count is read once. */
class Judge {
  readonly #context: IngestContext;
  readonly #agentId: AgentId;
  readonly #steps = new Map<StepRunId, StepState | undefined>();
  readonly #counts = new Map<AgentEventOwner, number>();

  constructor(context: IngestContext, agentId: AgentId) {
    this.#context = context;
    this.#agentId = agentId;
  }

  async judge(event: PushedEvent): Promise<Judged> {
    const { id, type, subject, timeMs, stepRunId } = event;
    const problem = this.#problemOf(event);
    if (problem !== undefined) return invalid(id, problem);
    const step = stepRunId === "" ? null : await this.#stepOf(stepRunId);
    if (step !== null && (step === undefined || !isGrantOf(step, this.#agentId, event.token))) {
      return { id, verdict: "stale", reason: "the step run is not granted to this agent under this token" };
    }
    if (step !== null && !isHeld(step)) return { id, verdict: "stale", reason: "the step run has ended" };
    const judged: AgentEvent = {
      agentId: this.#agentId,
      eventId: id,
      runId: step?.runId ?? null,
      stepRunId: step?.stepRunId ?? null,
      type,
      subject,
      time: timeMs,
      receivedAt: this.#context.clock.now(),
      data: event.dataJson === "" ? "{}" : event.dataJson,
    };
    const owner = ownerOf(judged);
    const count = this.#counts.get(owner) ?? (await this.#context.stores.agentEvents.count(owner));
    this.#counts.set(owner, count + 1);
    const whose = step === null ? "the agent" : "the run";
    return count < MAX_EVENTS ? judged : invalid(id, `${whose} has ${MAX_EVENTS} events already`);
  }

  async #stepOf(stepRunId: StepRunId): Promise<StepState | undefined> {
    if (!this.#steps.has(stepRunId)) {
      const location = await this.#context.stores.aggregates.findStep(stepRunId);
      this.#steps.set(stepRunId, location?.actor.state as StepState | undefined);
    }
    return this.#steps.get(stepRunId);
  }

  #problemOf({ id, type, subject, timeMs, dataJson, stepRunId }: PushedEvent): string | undefined {
    if (id === "" || id.length > 128) return "an id has 1 to 128 characters";
    const namespace = this.#context.eventNamespace;
    const object = stepRunId === "" ? "agent" : "step";
    const prefix = `${namespace}.${object}.`;
    if (!type.startsWith(prefix)) {
      return `the type of an event ${object === "step" ? "with" : "without"} a step run begins with ${prefix}`;
    }
    const word = type.slice(prefix.length);
    if (!WORD.test(word)) return `the last word of a type must match ${WORD.source}`;
    if ((object === "step" ? RESERVED_WORDS : RESERVED_OF_AGENT).includes(word)) {
      return `the word ${word} is reserved` + " for the control plane: choose another one";
    }
    if (subject.length > 256) return "a subject has at most 256 characters";
    if (!(timeMs >= 0 && timeMs <= MAX_TIME_MS)) return "the time must be in Unix milliseconds";
    if (Buffer.byteLength(dataJson) > MAX_DATA_BYTES) return `data has at most ${MAX_DATA_BYTES} bytes`;
    return dataJson === "" || isJsonObject(dataJson) ? undefined : "data must be a JSON object";
  }
}

function invalid(id: string, reason: string): EventVerdict {
  return { id, verdict: "invalid", reason };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
