/**
 * The board of offers: which jobs wait for an agent. It holds hints only; a job that is taken comes back by itself
 * unless it is withdrawn, and the grant is decided by the job actor.
 */
import type { Offer } from "../domain/effects.ts";
import type { AgentId, JobRunId, ProjectId } from "../domain/ids.ts";
import type { AgentSelector, Labels } from "../domain/labels.ts";

/** What offers have in common that wait in one line. */
export interface Lane {
  readonly projectId: ProjectId;
  readonly priority: number;
  readonly selector: AgentSelector;
}

export interface Board {
  /** Puts an offer on the board; a repeat changes nothing but makes a taken one available again. */
  offer(offer: Offer): Promise<void>;
  /** Removes an offer, taken or not; nothing happens when it is not there. */
  withdraw(jobId: JobRunId, projectId: ProjectId): Promise<void>;
  /**
   * Takes up to `count` offers that match `labels`, the best ones first (priority, then round-robin by project, then age),
   * out of sight for `holdMs`; fewer when no more match.
   */
  take(labels: Labels, holdMs: number, count: number): Promise<readonly Offer[]>;
  /** Calls `listener` when an offer may have become available in `lane`; offers that come back by themselves are not told. */
  onOffered(listener: (lane: Lane) => void): Promise<() => Promise<void>>;
  /** How many offers there are, taken ones included. */
  size(): Promise<number>;
}

/** A sign of life that a gateway writes for an agent that it serves, before it acknowledges the agent's heartbeat. */
export interface PresenceRecord {
  readonly agentId: AgentId;
  /** New with each start of the agent. */
  readonly bootId: string;
  readonly gatewayId: string;
  readonly labels: Labels;
  readonly slots: number;
  readonly busy: number;
}

export interface Presence {
  /** Renews the sign of life; each call changes the record's `beat`. */
  beat(record: PresenceRecord): Promise<void>;
  /** Removes the record when it is still that boot's. */
  leave(agentId: AgentId, bootId: string): Promise<void>;
  /** Newest records; an agent without one is absent from the map. */
  read(agentIds: readonly AgentId[]): Promise<ReadonlyMap<AgentId, { readonly bootId: string; readonly beat: string }>>;
  /** Agents whose last beat is younger than `maxAgeMs` by the broker's clock. */
  online(maxAgeMs: number): Promise<readonly PresenceRecord[]>;
}
