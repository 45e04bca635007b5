/** The calls of agent.v1 with which programs list, read and drain agents. */
import type { AgentServer } from "../../proto/generated/agent/v1/agent.ts";
import { drainAgent, drainBody, undrainAgent } from "../app/agents/draining.ts";
import { getAgent, listAgents } from "../app/agents/inventory.ts";
import type { AppContext } from "../app/context.ts";
import { type AgentId, asId } from "../domain/ids.ts";
import { unary } from "./calls.ts";
import { agentDetail, agentRecord } from "./messages/agent-record-messages.ts";
import { parseMessage } from "./messages/parse-message.ts";

type InventoryCalls = Pick<AgentServer, "listAgents" | "getAgent" | "drainAgent" | "undrainAgent">;

export function inventoryCalls(context: AppContext): InventoryCalls {
  return {
    listAgents: unary(context, async (_, { caller }) => {
      const { list, total } = await listAgents(context, caller);
      return { agents: list.map(agentRecord), total: BigInt(total) };
    }),

    getAgent: unary(context, async ({ agentId }, { caller }) =>
      agentDetail(await getAgent(context, caller, { agentId: asId(agentId) })),
    ),

    drainAgent: unary(context, async ({ agentId, reason }, { caller }) => {
      const body = parseMessage(drainBody, { reason });
      return { agent: agentRecord(await drainAgent(context, caller, { ...body, agentId: asId<AgentId>(agentId) })) };
    }),

    undrainAgent: unary(context, async ({ agentId }, { caller }) => ({
      agent: agentRecord(await undrainAgent(context, caller, { agentId: asId(agentId) })),
    })),
  };
}
