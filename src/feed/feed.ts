/**
 * The feed: a publish/subscribe of live events, log lines and notices. It is a hint, never the truth: a message may
 * be lost, and whoever reads the feed reads the store on a gap.
 */
import type { AgentId, CommandId, RunId, StepRunId } from "../domain/ids.ts";

/** Stops a subscription; idempotent. */
export type Unsubscribe = () => Promise<void>;

export interface Feed {
  /** Sends JSON to whoever listens now. Rejects when the broker cannot be reached. */
  publish(channel: string, payload: unknown): Promise<void>;
  /** Resolves once the subscription stands; `listener` gets the parsed JSON, in the order of one publisher. */
  subscribe(channel: string, listener: (payload: unknown) => void): Promise<Unsubscribe>;
  close(): Promise<void>;
}

/** Carries one `RunEvent` a message. */
export const runChannel = (runId: RunId): string => `run:${runId}`;
/** Carries arrays of `LogLine`. */
export const logChannel = (stepRunId: StepRunId): string => `log:${stepRunId}`;
/** Carries `AgentNotice`. */
export const agentChannel = (agentId: AgentId): string => `agent:${agentId}`;
/** Carries the `Verdict` of a command. */
export const commandChannel = (id: CommandId): string => `command:${id}`;
