/**
 * The board of offers: which jobs wait for an agent. It holds hints only; a job that is taken comes back by itself
 * unless it is withdrawn, and the grant is decided by the job actor.
 */
import type { Offer } from "../domain/effects.ts";
import type { AgentId, JobRunId, ProjectId } from "../domain/ids.ts";
import type { AgentSelector, Labels } from "../domain/labels.ts";
import type { QuotaUse } from "../domain/quotas.ts";

/** For how long a place in a quota is kept; longer than another owner takes to go on with a dead one's jobs. */
export const PLACE_MS = 30_000;

/** What offers have in common that wait in one line. */
export interface Lane {
  readonly projectId: ProjectId;
  readonly priority: number;
  readonly selector: AgentSelector;
}

/** A job that has been taken from the board. */
export interface TakenOffer extends Offer {
  /** Names of the quotas in which it has a place while it is held; its job keeps the place when it is granted. */
  readonly quotas: readonly string[];
}

/** What a job has a place in. */
export interface Places {
  readonly jobId: JobRunId;
  readonly quotas: readonly string[];
}

export interface Board {
  /** Puts an offer on the board; a repeat changes nothing but makes a taken one available again. */
  offer(offer: Offer): Promise<void>;
  /** Removes an offer, taken or not; nothing happens when it is not there. */
  withdraw(jobId: JobRunId): Promise<void>;
  /**
   * Takes up to `count` offers that match `labels`, the best ones first (priority, then round-robin by project, then age),
   * out of sight for `holdMs`; fewer when no more match, or a quota is reached.
   */
  take(labels: Labels, holdMs: number, count: number): Promise<readonly TakenOffer[]>;
  /**
   * Keeps the places of granted jobs for {@link PLACE_MS}; whoever answers for a job repeats it in time. A place that nobody
   * keeps falls vacant by itself.
   */
  occupy(places: readonly Places[]): Promise<void>;
  /** Gives up the places of a job that has ended. */
  vacate(places: Places): Promise<void>;
  /** The quotas that jobs of these projects may be under, and those of agents; without a call when there are none. */
  quotaUse(projectIds: readonly ProjectId[]): Promise<readonly QuotaUse[]>;
  /** Calls `listener` when an offer may have become available in `lane`; offers that come back by themselves are not told. */
  onOffered(listener: (lane: Lane) => void): Promise<() => Promise<void>>;
  /** Those of these jobs' offers that are there, taken ones included. */
  find(jobIds: readonly JobRunId[]): Promise<readonly Offer[]>;
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
  /** It takes no more jobs; absent in a record that an older version has written. */
  readonly draining?: boolean;
  /** Why it takes no more jobs at present, for people; empty, or absent from an older gateway, when it does. */
  readonly takesNoJobs?: string;
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
  /** Notes that the work of that boot counts as lost, unless another boot was heard since; the next beat ends it. */
  declareLost(agentId: AgentId, bootId: string): Promise<void>;
  /** Agents that were declared lost and not heard since, for a day at most. */
  lost(): Promise<readonly AgentId[]>;
}
