/** The inventory of agents: the registered agents, with the presence of those that are online. */
import type { PresenceRecord } from "../../board/board.ts";
import type { Agents } from "../../domain/agent-wait.ts";
import type { AgentId, ProjectId } from "../../domain/ids.ts";
import type { Labels } from "../../domain/labels.ts";
import type { QuotaUse } from "../../domain/quotas.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { WithStores } from "../context.ts";
import type { AgentsContext } from "./context.ts";
import { rfc3339 } from "../times.ts";

/** An agent is online if it was heard within this time. */
export const ONLINE_MS = 30_000;

export interface AgentView {
  readonly agentId: AgentId;
  readonly name: string;
  readonly labels: Labels;
  readonly slots: number;
  readonly version: string;
  readonly createdAt: string;
  /** Null when presence cannot be read now. */
  readonly online: boolean | null;
  /** Slots in use; 0 while the agent is not online. */
  readonly busy: number;
}

export async function listAgents(
  context: Pick<AgentsContext, "presence" | "log"> & WithStores<"identity">,
  caller: Caller,
): Promise<{ readonly list: readonly AgentView[]; readonly total: number }> {
  authoriseUser(caller, "readAgents");
  const [agents, online] = await Promise.all([context.stores.identity.listAgents(), readOnline(context)]);
  const present = new Map(online?.map((record) => [record.agentId, record]));
  const list = agents.map(({ bootId: _internal, ...agent }): AgentView => {
    const record = present.get(agent.agentId);
    return {
      ...agent,
      labels: record?.labels ?? agent.labels,
      slots: record?.slots ?? agent.slots,
      createdAt: rfc3339(agent.createdAt),
      online: online === null ? null : record !== undefined,
      busy: record?.busy ?? 0,
    };
  });
  return { list, total: list.length };
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
