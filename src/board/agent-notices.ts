/** How a gateway hears what the plane tells an agent. A notice may be lost: the store is read at each heartbeat. */
import type { AgentNotice } from "./notices.ts";
import type { AgentId } from "../domain/ids.ts";
import { agentChannel, type Unsubscribe } from "../feed/feed.ts";
import type { AppContext } from "../app/context.ts";

export type { AgentNotice } from "./notices.ts";

/** Resolves once the subscription stands: what is saved from then on is heard, so read the store after it. */
export function listenToAgent(
  context: AppContext,
  agentId: AgentId,
  listener: (notice: AgentNotice) => void,
): Promise<Unsubscribe> {
  return context.feed.subscribe(agentChannel(agentId), (payload) => listener(payload as AgentNotice));
}

/** Ends the agent's other streams, at whatever gateway; `by` is the one that stays, or empty. */
export function supersedeStreams(context: AppContext, agentId: AgentId, by: string): Promise<void> {
  return tellAgent(context, agentId, { type: "superseded", by });
}

/** Calls `listener` when the agent's token was taken back, or the agent was registered anew or removed. */
export function listenToRevocation(context: AppContext, agentId: AgentId, listener: () => void): Promise<Unsubscribe> {
  return listenToAgent(context, agentId, (notice) => {
    if (notice.type === "superseded" && notice.by === "") listener();
  });
}

/** Tells whatever gateways serve the agent now; a notice that nobody hears is lost. */
export function tellAgent(context: AppContext, agentId: AgentId, notice: AgentNotice): Promise<void> {
  return context.feed.publish(agentChannel(agentId), notice);
}
