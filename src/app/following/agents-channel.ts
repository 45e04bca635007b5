/** All agents that the client may see: presence, labels and slots, whenever they change. */
import { z } from "zod";
import { asId, type AgentId } from "../../domain/ids.ts";
import type { AgentChange } from "./agent-presence-feed.ts";
import { followAgents } from "./agent-updates.ts";
import { idParam, liveChannel, revisionParam, SUBSCRIBED } from "./live-channel.ts";

export const AGENTS_CHANNEL = liveChannel({
  name: "agents",
  about: "Follows the presence of the agents that the caller may see: all of them, then each change.",
  params: z.strictObject({ agentId: idParam.optional(), after: revisionParam.optional() }),
  async *follow({ context, agents }, caller, { params: { agentId, after = "" }, abort }) {
    const agentIds = agentId === undefined ? [] : [asId<AgentId>(agentId)];
    let isFirst = true;
    for await (const update of followAgents(context, agents, caller, { agentIds, revision: after, abort })) {
      // Only then it is known that there is such an agent.
      if (isFirst) yield SUBSCRIBED;
      isFirst = false;
      const json = update.type === "change" ? JSON.stringify(viewOf(update.change)) : "null";
      yield { type: update.type === "change" ? "agent" : update.type, json, after: update.revision };
    }
  },
});

/** Without the projects that the agent is for: the client may not see all of them. */
function viewOf({ agentId, name, presence, labels, trusted, slots, busy, timeMs }: AgentChange) {
  return { agentId, name, presence, labels, trusted, slots, busy, time: new Date(timeMs).toISOString() };
}
