/** The inventory of agents: the registered agents, with the presence of those that are online. */
import { z } from "zod";
import type { PresenceRecord } from "../../board/board.ts";
import type { Agents } from "../../domain/agent-wait.ts";
import type { AgentId, ProjectId } from "../../domain/ids.ts";
import { labelledAgent, overruledLabels } from "../../domain/labels.ts";
import type { QuotaUse } from "../../domain/quotas.ts";
import type { Agent } from "../../stores/ports/identity.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { WithStores } from "../context.ts";
import type { AgentsContext } from "./context.ts";
import { id, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

/** An agent is online if it was heard within this time. */
export const ONLINE_MS = 30_000;

export const AgentShape = shape("Agent", {
  agentId: id<AgentId>(),
  name: z.string(),
  labels: mapOf(z.string()),
  /** Keys of the labels that an operator has given. The agent itself tells the others. */
  trusted: listOf(z.string()),
  /** Labels that the agent tells and that do not count, because an operator has given another value. */
  overruled: mapOf(z.string()),
  slots: wholeNumber,
  version: z.string(),
  createdAt: time,
  /** Null when presence cannot be read now. */
  online: z.boolean().nullable(),
  /** Slots in use; 0 while the agent is not online. */
  busy: wholeNumber,
});

export type AgentView = z.infer<typeof AgentShape>;

export async function listAgents(
  context: Pick<AgentsContext, "presence" | "log"> & WithStores<"identity">,
  caller: Caller,
): Promise<{ readonly list: readonly AgentView[]; readonly total: number }> {
  authoriseUser(caller, "readAgents");
  const list = await readInventory(context);
  return { list, total: list.length };
}

/** The agents as they are listed, for use cases that have authorised their callers. */
export async function readInventory(
  context: Pick<AgentsContext, "presence" | "log"> & WithStores<"identity">,
): Promise<readonly AgentView[]> {
  const [agents, online] = await Promise.all([context.stores.identity.listAgents(), readOnline(context)]);
  const present = new Map(online?.map((record) => [record.agentId, record]));
  return agents.map((agent) => agentView(agent, present.get(agent.agentId), online !== null));
}

/** The agent as the inventory lists it. */
export async function viewAgent(context: Pick<AgentsContext, "presence" | "log">, agent: Agent): Promise<AgentView> {
  const online = await readOnline(context);
  const record = online?.find(({ agentId }) => agentId === agent.agentId);
  // The gateway of the agent may not have learned new labels yet.
  return { ...agentView(agent, record, online !== null), trusted: [], ...labelledAgent(agent) };
}

function agentView(agent: Agent, record: PresenceRecord | undefined, isKnown: boolean): AgentView {
  const { agentId, name, version, createdAt } = agent;
  const { labels, trusted = [] } = record ?? labelledAgent(agent);
  return {
    agentId,
    name,
    labels,
    trusted,
    overruled: overruledLabels(agent),
    slots: record?.slots ?? agent.slots,
    version,
    createdAt: rfc3339(createdAt),
    online: isKnown ? record !== undefined : null,
    busy: record?.busy ?? 0,
  };
}

/** Agents that are online. Null when presence cannot be read: views of runs are shown all the same. */
async function readOnline(context: Pick<AgentsContext, "presence" | "log">): Promise<readonly PresenceRecord[] | null> {
  try {
    return await context.presence.online(ONLINE_MS);
  } catch (error) {
    context.log.warn({ error: String(error) }, "presence of agents could not be read");
    return null;
  }
}

/** What explains why jobs of these projects wait for an agent: the agents that are online, and the use of quotas. */
export async function readAgents(
  context: Pick<AgentsContext, "board" | "presence" | "log">,
  projectIds: readonly ProjectId[],
): Promise<Agents> {
  // No project has a job that waits for an agent: nothing is read.
  if (projectIds.length === 0) return { online: null, quotas: [] };
  const [online, quotas] = await Promise.all([readOnline(context), readQuotas(context, projectIds)]);
  return { online, quotas };
}

async function readQuotas(
  context: Pick<AgentsContext, "board" | "log">,
  projectIds: readonly ProjectId[],
): Promise<readonly QuotaUse[]> {
  try {
    return await context.board.quotaUse(projectIds);
  } catch (error) {
    context.log.warn({ error: String(error) }, "the use of quotas could not be read");
    return [];
  }
}
