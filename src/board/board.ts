/**
 * The board of offers: the jobs that wait for an agent. It holds hints only: an offer that is taken comes back by
 * itself unless it is withdrawn, and the job actor decides whether the claim is granted.
 */
import type { Offer } from "../domain/effects.ts";
import type { AgentId, JobRunId, ProjectId } from "../domain/ids.ts";
import type { AgentSelector, Labels } from "../domain/labels.ts";
import type { QuotaUse } from "../domain/quotas.ts";

/**
 * How long a place in a quota is kept, milliseconds; longer than a new owner needs to take over the jobs of a dead one.
 */
export const PLACE_MS = 30_000;

/** A lane: the offers in it have the same project, priority and selector. */
export interface Lane {
  readonly projectId: ProjectId;
  readonly priority: number;
  readonly selector: AgentSelector;
}

/** A job that has been taken from the board. */
export interface TakenOffer extends Offer {
  /**
   * Names of the quotas in which the offer has a place while it is taken. The job keeps the places when the claim is
   * granted.
   */
  readonly quotas: readonly string[];
}

/** The quotas in which a job has a place. */
export interface Places {
  readonly jobId: JobRunId;
  readonly quotas: readonly string[];
}

export interface Board {
  /**
   * Puts an offer on the board. A repeat makes a taken offer available again, and changes nothing else. An offer that was
   * withdrawn under its `queuedAt` within the last minute is late and is dropped.
   */
  offer(offer: Offer): Promise<void>;
  /**
   * Removes an offer, taken or not, unless its `queuedAt` is later than this one: then the job was offered again since,
   * and this withdrawal is late. Without `queuedAt` any offer of the job is removed, and may be put again. Idempotent.
   */
  withdraw(jobId: JobRunId, queuedAt?: number): Promise<void>;
  /**
   * Takes up to `count` offers that match `labels`, the best ones first (priority, then round-robin by project, then
   * age); fewer when no more offers match, or a quota is reached. For `holdMs` no other call gets these offers.
   */
  take(labels: Labels, holdMs: number, count: number): Promise<readonly TakenOffer[]>;
  /**
   * Keeps the places of granted jobs for {@link PLACE_MS}. The owner of a job's shard repeats the call in time; a place
   * for which no call comes is free after that time.
   */
  occupy(places: readonly Places[]): Promise<void>;
  /** Gives up the places of a job that has ended. */
  vacate(places: Places): Promise<void>;
  /**
   * The quotas of these projects and of agents, with the places taken in each. Does not call Redis when no quota is
   * set.
   */
  quotaUse(projectIds: readonly ProjectId[]): Promise<readonly QuotaUse[]>;
  /**
   * Calls `listener` when an offer may have become available in `lane`; not for taken offers that come back by
   * themselves.
   */
  onOffered(listener: (lane: Lane) => void): Promise<() => Promise<void>>;
  /** The offers of these jobs that are on the board, taken ones included. */
  find(jobIds: readonly JobRunId[]): Promise<readonly Offer[]>;
  /** The number of offers, taken ones included. */
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
  /** True when the agent takes no more jobs; absent in a record of a gateway of an older version. */
  readonly draining?: boolean;
  /**
   * Why the agent takes no jobs at present, for people; empty when it does, and absent in a record of a gateway of an
   * older version.
   */
  readonly takesNoJobs?: string;
}

export interface Presence {
  /** Renews the sign of life; each call changes the record's `beat`. */
  beat(record: PresenceRecord): Promise<void>;
  /**
   * Like `beat`, unless another boot of the agent has written the record: then nothing is written, and the answer is
   * false. Only a hello may replace the record of another boot.
   */
  renew(record: PresenceRecord): Promise<boolean>;
  /** Removes the record, unless another boot of the agent has written it. */
  leave(agentId: AgentId, bootId: string): Promise<void>;
  /** The newest record of each agent; an agent without a record is absent from the map. */
  read(agentIds: readonly AgentId[]): Promise<ReadonlyMap<AgentId, { readonly bootId: string; readonly beat: string }>>;
  /** Agents whose last beat is younger than `maxAgeMs` by the broker's clock. */
  online(maxAgeMs: number): Promise<readonly PresenceRecord[]>;
  /**
   * Notes that this boot of the agent is lost, unless another boot has sent a beat since. The agent's next beat removes
   * the note.
   */
  declareLost(agentId: AgentId, bootId: string): Promise<void>;
  /** Agents that were declared lost within the last day and have sent no beat since. */
  lost(): Promise<readonly AgentId[]>;
}
