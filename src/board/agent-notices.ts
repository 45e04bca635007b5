/**
 * Notices from actors and gateways to the gateway that serves an agent. They travel over the agent's channel of the
 * feed. A notice may be lost; the gateway then reads the same from the store at the agent's next heartbeat.
 */
import type { GrantedStep } from "../domain/effects.ts";
import type { AgentId, JobRunId, StepRunId } from "../domain/ids.ts";
import type { AgentReach, LabelledAgent, Labels } from "../domain/labels.ts";
import { agentChannel, type Feed, type Unsubscribe } from "../feed/feed.ts";

interface FeedPort {
  readonly feed: Feed;
}

export type AgentNotice =
  | { readonly type: "dispatch"; readonly order: GrantedStep }
  | {
      readonly type: "revoke";
      readonly jobId: JobRunId;
      readonly stepRunId: StepRunId;
      readonly token: number;
      readonly graceMs: number;
      readonly reason: string;
    }
  | { readonly type: "release"; readonly jobId: JobRunId; readonly succeeded?: boolean }
  | { readonly type: "acknowledge"; readonly stepRunId: StepRunId; readonly token: number }
  | { readonly type: "refuse"; readonly stepRunId: StepRunId; readonly token: number }
  /** The agent's labels have changed. `trusted`: keys of those that an operator has given; absent from an older gateway. */
  | {
      readonly type: "labels";
      readonly labels: Labels;
      readonly trusted?: readonly string[];
      /** Null for an agent of the installation; absent from an older gateway, which may not know of a change. */
      readonly reach?: AgentReach | null;
    }
  /** An operator has drained the agent, or lets it take jobs again. An older gateway ignores it. */
  | { readonly type: "drain"; readonly isDrained: boolean }
  | { readonly type: "refuseClaim"; readonly requestId: string }
  /** A process greets in the agent's name: a stream that hears the agent answers `alive`. An older gateway does not. */
  | { readonly type: "probe"; readonly by: string }
  | { readonly type: "alive"; readonly to: string }
  /**
   * Older streams of the agent end: the agent has opened the stream `by`; empty: it was registered again or removed, or
   * lost its token.
   */
  | { readonly type: "superseded"; readonly by: string };

/** Resolves once the subscription is active. Read the store after that: every later save is announced to `listener`. */
export function listenToAgent(
  context: FeedPort,
  agentId: AgentId,
  listener: (notice: AgentNotice) => void,
): Promise<Unsubscribe> {
  return context.feed.subscribe(agentChannel(agentId), (payload) => listener(payload as AgentNotice));
}

/** Ends the agent's other streams, on all gateways; `by` is the stream that stays, or empty for none. */
export function supersedeStreams(context: FeedPort, agentId: AgentId, by: string): Promise<void> {
  return tellAgent(context, agentId, { type: "superseded", by });
}

/** Tells the gateways that serve the agent which of its labels count from now on. */
export function announceLabels(context: FeedPort, agentId: AgentId, agent: LabelledAgent): Promise<void> {
  return tellAgent(context, agentId, { type: "labels", trusted: [], ...agent, reach: agent.reach ?? null });
}

/** The agent as a notice of its labels says. */
export function relabelled(
  { reach: known }: LabelledAgent,
  { labels, trusted = [], reach = known }: Extract<AgentNotice, { readonly type: "labels" }>,
): LabelledAgent {
  return reach === null || reach === undefined ? { labels, trusted } : { labels, trusted, reach };
}

/** Calls `listener` when the agent's token was revoked, or the agent was registered again or removed. */
export function listenToRevocation(context: FeedPort, agentId: AgentId, listener: () => void): Promise<Unsubscribe> {
  return listenToAgent(context, agentId, (notice) => {
    if (notice.type === "superseded" && notice.by === "") listener();
  });
}

/** False when no gateway in this process listens to the agent. */
export function mayPassOn(context: FeedPort, agentId: AgentId): boolean {
  return context.feed.isFollowed(agentChannel(agentId));
}

/** Sends a notice to the gateways that serve the agent now. When none listens, the notice is lost. */
export function tellAgent(context: FeedPort, agentId: AgentId, notice: AgentNotice): Promise<void> {
  return context.feed.publish(agentChannel(agentId), notice);
}
