/**
 * The feed: publish and subscribe for live events, log lines and notices. Messages are hints and may be lost: a reader
 * of the feed reads the store when it finds a gap.
 */
import type { AgentId, ApprovalId, CommandId, PipelineId, ProjectId, RunId, StepRunId } from "../domain/ids.ts";
import type { SystemLog } from "../domain/system-events.ts";
import type { RunStatus } from "../domain/status.ts";

/** Stops a subscription; idempotent. */
export type Unsubscribe = () => Promise<void>;

/** So long after {@link Feed.follow}, the other nodes publish what is followed, unless the broker cannot be reached. */
export const KNOWN_MS = 200;

export interface Feed {
  /**
   * Sends the payload, which must not be changed from then on, to all subscribers of the channel: those of this process may get
   * the object itself, and the others get it as JSON. Rejects when the broker cannot be reached.
   */
  publish(channel: string, payload: unknown): Promise<void>;
  /**
   * Resolves once the subscription is active. `listener` gets the payload; messages of one publisher come in their
   * order.
   */
  subscribe(channel: string, listener: (payload: unknown) => void): Promise<Unsubscribe>;
  /**
   * As {@link subscribe}, for a channel to which nodes publish only while a client follows it: tells the other nodes now
   * and then that one does. They know it within {@link KNOWN_MS}: what they store until then may come unpublished.
   */
  follow(channel: string, listener: (payload: unknown) => void): Promise<Unsubscribe>;
  /** False while no node is known to {@link follow} the channel: then nothing need be published. */
  isFollowed(channel: string): boolean;
  close(): Promise<void>;
}

/** What a run is after a save, for those who follow many runs. A hint: the store has the truth. */
export interface RunHint {
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  readonly status: RunStatus;
  readonly bound: boolean;
  /** `waits` of the summary of the run. */
  readonly waits: unknown;
  /** Number of the save, and of the newest event in it. */
  readonly version: number;
  readonly eventNumber: number;
}

/** An approval that has changed, for those who follow many. */
export interface ApprovalHint {
  readonly runId: RunId;
  readonly approvalId: ApprovalId;
}

/** Each message is one {@link RunHint}. Only published while it is followed. */
export const RUNS_CHANNEL = "runs";
/** Each message is one {@link ApprovalHint}. Only published while it is followed. */
export const APPROVALS_CHANNEL = "approvals";
/** Each message names a hook (`hookId`) that owes a delivery. */
export const HOOKS_CHANNEL = "hooks";
/** A message says that the log has a further event. Only published while it is followed. */
export const systemChannel = (log: SystemLog): string => `system:${log}`;
/** Each message is one `RunEvent`. Only published while it is followed. */
export const runChannel = (runId: RunId): string => `run:${runId}`;
/** Each message is an array of `LogLine`. Only published while it is followed. */
export const logChannel = (stepRunId: StepRunId): string => `log:${stepRunId}`;
/** Each message is one `AgentNotice`. */
export const agentChannel = (agentId: AgentId): string => `agent:${agentId}`;
/** Each message is the `Verdict` of a command. */
export const commandChannel = (id: CommandId): string => `command:${id}`;
