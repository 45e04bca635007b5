/**
 * The port of agent events: events that agents report about themselves and about the steps that they run. Each is
 * stored once for its id, apart from the run events of the control plane.
 */
import type { AgentId, RunId, StepRunId } from "../../domain/ids.ts";
import type { Page, PlacedPageRequest } from "./pages.ts";

export interface AgentEvent {
  readonly agentId: AgentId;
  /** Chosen by the agent; unique for this agent. */
  readonly eventId: string;
  /** Both null for an event about the agent itself. */
  readonly runId: RunId | null;
  readonly stepRunId: StepRunId | null;
  readonly type: string;
  readonly subject: string;
  /** Unix milliseconds, by the clock of the agent. */
  readonly time: number;
  /** Unix milliseconds, by the clock of the gateway. */
  readonly receivedAt: number;
  /** Text of a JSON object, as the agent sent it. */
  readonly data: string;
  /**
   * Number among the events of the step run, from 1; the store sets it. Absent for an event of the agent itself, and for
   * one that a version before this number has stored.
   */
  readonly sequence?: number;
}

export interface EventPlace {
  /** Null for an event of the agent itself. */
  readonly stepRunId: StepRunId | null;
  /** Null for an event without a sequence. */
  readonly sequence: number | null;
}

/** Events are counted and listed by their owner: the run, or the agent for an event about the agent itself. */
export type AgentEventOwner = RunId | AgentId;

export interface AgentEventStore {
  /**
   * Stores events. An event whose (agentId, eventId) is stored already does not change, so a repeat changes nothing.
   */
  append(events: readonly AgentEvent[]): Promise<void>;
  /** Those of the given ids under which an event of the agent is stored. */
  storedIds(agentId: AgentId, eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Stores events of one agent about one step run behind those that the store has of it, so that sequences have no gap.
   * An event whose (agentId, eventId) is stored already does not change. Answers the places of all of them, by their ids.
   */
  appendToStep(events: readonly AgentEvent[]): Promise<ReadonlyMap<string, EventPlace>>;
  /** The places of those of the given ids under which an event of the agent is stored. */
  placesOf(agentId: AgentId, eventIds: readonly string[]): Promise<ReadonlyMap<string, EventPlace>>;
  /** The events of a step run between two sequences, both included, ascending. */
  ofStep(stepRunId: StepRunId, from: number, through: number): Promise<readonly AgentEvent[]>;
  /** Removes the events of a step run above a sequence: its run has not taken them into its log, and takes no more. */
  dropAbove(stepRunId: StepRunId, sequence: number): Promise<void>;
  count(owner: AgentEventOwner): Promise<number>;
  /** The events of an owner, by `receivedAt`. The id of a place is `<agent>/<event>`. */
  list(owner: AgentEventOwner, page: PlacedPageRequest): Promise<Page<AgentEvent>>;
  /**
   * The first agent (by id, after `after`) with events about itself; a removed agent counts too. Undefined when there
   * is none.
   */
  nextAgent(after: string): Promise<AgentId | undefined>;
  /** Removes the events about the agent itself that were received before `before`, Unix milliseconds. */
  forget(agentId: AgentId, before: number): Promise<void>;
}

/** The owner of an event. */
export function ownerOf({ runId, agentId }: AgentEvent): AgentEventOwner {
  return runId ?? agentId;
}

/** In the order of texts, all ids of agents lie between these two bounds, and no id of a run does. */
const BEFORE_AGENTS = "agt_";
export const BEYOND_AGENTS = "agt`";

/** The exclusive lower bound for the ids of the agents after `agentId`; for an empty text, of all agents. */
export function afterAgent(agentId: string): string {
  return agentId === "" ? BEFORE_AGENTS : agentId;
}
