/** What agents tell of themselves and of the steps that they run: stored once for each id, apart from the plane's own events. */
import type { AgentId, RunId, StepRunId } from "../../domain/ids.ts";
import type { Page, PageRequest } from "./aggregates.ts";

export interface AgentEvent {
  readonly agentId: AgentId;
  /** Chosen by the agent. */
  readonly eventId: string;
  /** Null, both, for what an agent says of itself. */
  readonly runId: RunId | null;
  readonly stepRunId: StepRunId | null;
  readonly type: string;
  readonly subject: string;
  /** Unix milliseconds at the agent. */
  readonly time: number;
  /** Unix milliseconds at the gateway. */
  readonly receivedAt: number;
  /** Text of a JSON object, as the agent has written it. */
  readonly data: string;
}

/** Whose events are counted and listed together: those of a run, or what an agent says of itself. */
export type AgentEventOwner = RunId | AgentId;

export interface AgentEventStore {
  /** Stores events; those whose (agentId, eventId) is stored already are left alone. */
  append(events: readonly AgentEvent[]): Promise<void>;
  /** Those of the ids under which the agent has stored an event. */
  known(agentId: AgentId, eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  count(owner: AgentEventOwner): Promise<number>;
  /** By the time at which they were received. */
  list(owner: AgentEventOwner, page: PageRequest): Promise<Page<AgentEvent>>;
  /** Of the agents that have said something of themselves, also of one that is gone, the first one (by id) after `after`. */
  nextAgent(after: string): Promise<AgentId | undefined>;
  /** Removes what an agent has said of itself before `before`, Unix milliseconds at the gateway. */
  forget(agentId: AgentId, before: number): Promise<void>;
}

export function ownerOf({ runId, agentId }: AgentEvent): AgentEventOwner {
  return runId ?? agentId;
}

/** Ids of agents as owners lie between these two, and no id of a run does. */
const BEFORE_AGENTS = "agt_";
export const BEYOND_AGENTS = "agt`";

/** Where agents follow that come after this one; all of them after an empty text. */
export function afterAgent(agentId: string): string {
  return agentId === "" ? BEFORE_AGENTS : agentId;
}
