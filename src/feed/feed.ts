/**
 * The feed: publish and subscribe for live events, log lines and notices. Messages are hints and may be lost: a reader
 * of the feed reads the store when it finds a gap.
 */
import type { AgentId, CommandId, RunId, StepRunId } from "../domain/ids.ts";

/** Stops a subscription; idempotent. */
export type Unsubscribe = () => Promise<void>;

export interface Feed {
  /** Sends the payload as JSON to all subscribers of the channel. Rejects when the broker cannot be reached. */
  publish(channel: string, payload: unknown): Promise<void>;
  /**
   * Resolves once the subscription is active. `listener` gets the parsed JSON; messages of one publisher come in their
   * order.
   */
  subscribe(channel: string, listener: (payload: unknown) => void): Promise<Unsubscribe>;
  close(): Promise<void>;
}

/** Each message is one `RunEvent`. */
export const runChannel = (runId: RunId): string => `run:${runId}`;
/** Each message is an array of `LogLine`. */
export const logChannel = (stepRunId: StepRunId): string => `log:${stepRunId}`;
/** Each message is one `AgentNotice`. */
export const agentChannel = (agentId: AgentId): string => `agent:${agentId}`;
/** Each message is the `Verdict` of a command. */
export const commandChannel = (id: CommandId): string => `command:${id}`;
