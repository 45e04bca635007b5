/**
 * The board of offers: the jobs that wait for an agent. It holds hints only: an offer that is taken comes back by
 * itself unless it is withdrawn, and the job actor decides whether the claim is granted.
 */
import type { Offer } from "../domain/effects.ts";
import type { AgentId, JobRunId, ProjectId, StepRunId, TenantId } from "../domain/ids.ts";
import {
  type AgentSelector,
  type LabelledAgent,
  type Labels,
  selectorMatches,
  type AgentReach,
  isReached,
} from "../domain/labels.ts";
import type { QuotaUse } from "../domain/quotas.ts";

/**
 * How long a place in a quota is kept, milliseconds; longer than a new owner needs to take over the jobs of a dead one.
 */
export const PLACE_MS = 30_000;

/** A lane: the offers in it have the same project, priority and selector. */
export interface Lane {
  readonly projectId: ProjectId;
  /** Owns the project; absent where it is not known, and in a lane of an older node. */
  readonly tenantId?: TenantId;
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
  /** Which of the given {@link Vacancies.requestIds} the offer has used up; absent without vacancies. */
  readonly vacancy?: string;
}

/**
 * Free slots of an agent. While no offer is there for them, they are vacancies: they stand on the board, so that a run
 * which is created takes one of them without an offer.
 */
export interface Vacancies {
  readonly agentId: AgentId;
  readonly bootId: string;
  /** The attendance of the gateway that serves the agent; see {@link Board.attend}. */
  readonly attendanceId: string;
  /** What shows the vacancies. A newer stream of the agent replaces those of an older one. */
  readonly streamId: string;
  /** One for each free slot, for a grant of the slot in the first turn of a run. */
  readonly requestIds: readonly string[];
  /** Request ids of reservations that the gateway knows to be over, because the grant or another answer has come. */
  readonly seen: readonly string[];
  /** True when just these vacancies stand on the board, as far as the caller knows. */
  readonly areShown: boolean;
}

/** A slot of an agent that is kept for one job, until the job is granted or {@link RESERVED_MS} have passed. */
export interface Reservation {
  readonly agentId: AgentId;
  readonly bootId: string;
  readonly requestId: string;
  /** As in {@link TakenOffer}. */
  readonly quotas: readonly string[];
}

/** What a gateway learns when it attends its vacancies. */
export interface Attendance {
  /** False: the vacancies have ceased to count. They have to be shown again, in another attendance. */
  readonly lasts: boolean;
  /** The number of offers, taken ones included. */
  readonly offers: number;
  /** Reservations of the gateway's vacancies that have ended, as far as the gateway has not told that it knows. */
  readonly ended: readonly { readonly agentId: AgentId; readonly requestId: string }[];
}

/** How long a vacancy is reserved, milliseconds by the board's clock. */
export const RESERVED_MS = 2_000;
/** How long vacancies count after {@link Board.attend}, milliseconds. */
export const ATTENDED_MS = 3_000;

/** The quotas in which a job has a place. */
export interface Places {
  readonly jobId: JobRunId;
  readonly quotas: readonly string[];
}

/** True when the agent may take the offers of the lane. */
export function laneMatches(lane: Lane, agent: LabelledAgent): boolean {
  return isReached(agent.reach, lane) && selectorMatches(lane.selector, agent);
}

export interface Board {
  /**
   * Puts an offer on the board, in place of an earlier one of the same job, as `queuedAt` tells. A repeat makes a taken offer
   * available again, and changes nothing else. An offer that was withdrawn under its `queuedAt` within the last minute, or
   * that is earlier than the one on the board, is late and is dropped.
   */
  offer(offer: Offer): Promise<void>;
  /**
   * Removes an offer, taken or not, unless its `queuedAt` is later than this one: then the job was offered again since,
   * and this withdrawal is late. Without `queuedAt` any offer of the job is removed, and may be put again. Idempotent.
   */
  withdraw(jobId: JobRunId, queuedAt?: number): Promise<void>;
  /**
   * Takes up to `count` offers that the agent matches, the best ones first (priority, then round-robin by project, then
   * age); fewer when no more offers match, or a quota is reached. For `holdMs` no other call gets these offers. What is
   * computed for an agent is remembered by its object, which therefore must not change. `vacancies`: `count` or more.
   * Those without an offer are shown in place of all earlier ones, and none is used that is reserved.
   */
  take(agent: LabelledAgent, holdMs: number, count: number, vacancies?: Vacancies): Promise<readonly TakenOffer[]>;
  /**
   * Reserves a vacancy for a job that is not offered yet, for {@link RESERVED_MS}. Undefined when no agent that the job's
   * selector matches has one, a quota is reached, or an offer waits that the agent could take: offers go first. May also
   * be undefined when a search has found no such agent a moment ago.
   */
  reserve(offer: Offer): Promise<Reservation | undefined>;
  /** Removes the vacancies that this stream of the agent shows. Idempotent. */
  hide(agentId: AgentId, streamId: string): Promise<void>;
  /**
   * Makes the vacancies of an attendance count for {@link ATTENDED_MS} from now, unless the time of the last call is over.
   * `isNew`: begins the attendance.
   */
  attend(attendanceId: string, isNew?: boolean): Promise<Attendance>;
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
   * Calls `listener` when `count` offers may have become available in `lane`; not for taken offers that come back by
   * themselves.
   */
  onOffered(listener: (lane: Lane, count: number) => void): Promise<() => Promise<void>>;
  /** The tenants of these projects, by which bound agents get offers; a project without a known tenant is absent. */
  tenantsOf(projectIds: readonly ProjectId[]): Promise<ReadonlyMap<ProjectId, TenantId>>;
  /** The offers of these jobs that are on the board, taken ones included. */
  find(jobIds: readonly JobRunId[]): Promise<readonly Offer[]>;
  /** The number of offers, taken ones included. */
  size(): Promise<number>;
}

/** The board that all nodes share. */
export interface SharedBoard extends Board {
  /** Remembers that these projects were served elsewhere, in this order. */
  countTurns(projectIds: readonly ProjectId[]): Promise<void>;
  /** True when an offer waits that the agent matches. What is computed for an agent is remembered as by `take`. */
  waitsFor(agent: LabelledAgent): Promise<boolean>;
}

/** A step that an agent was granted and is not sent yet. */
export interface StepWait {
  readonly stepRunId: StepRunId;
  /** What it waits for, for people. */
  readonly text: string;
}

/** A sign of life that a gateway writes for an agent that it serves, before it acknowledges the agent's heartbeat. */
export interface PresenceRecord {
  readonly agentId: AgentId;
  /** New with each start of the agent. */
  readonly bootId: string;
  readonly gatewayId: string;
  readonly labels: Labels;
  /** Keys of the labels that an operator has given; absent without one, and in a record of an older gateway. */
  readonly trusted?: readonly string[];
  /** Absent for an agent of the installation, and in a record of an older gateway. */
  readonly reach?: AgentReach;
  readonly slots: number;
  readonly busy: number;
  /** True when the agent takes no more jobs; absent in a record of a gateway of an older version. */
  readonly draining?: boolean;
  /** True when it takes no more jobs because an operator has drained it; absent else, and from an older gateway. */
  readonly drained?: boolean;
  /** True for an agent that calls and has no stream; absent for another, and in a record of an older gateway. */
  readonly pulls?: boolean;
  /**
   * Why the agent takes no jobs at present, for people; empty when it does, and absent in a record of a gateway of an
   * older version.
   */
  readonly takesNoJobs?: string;
  /** Steps that wait at the gateway for the tokens of their checkouts; absent for none, and from an older gateway. */
  readonly waits?: readonly StepWait[];
}

/** The newest sign of life of an agent. `at`: when it was written, by the broker's clock, Unix milliseconds. */
export interface NewestBeat extends Pick<PresenceRecord, "bootId" | "gatewayId" | "pulls"> {
  readonly beat: string;
  readonly at: number;
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
  read(agentIds: readonly AgentId[]): Promise<ReadonlyMap<AgentId, NewestBeat>>;
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
