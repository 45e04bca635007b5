/** Agents, their slots, and why jobs wait for them, as presence and the board have it: nothing is read from the store. */
import { ONLINE_MS } from "../app/agents/inventory.ts";
import type { AppContext } from "../app/context.ts";
import type { WaitingLane } from "../board/board-queue.ts";
import { type AgentWait, agentWait, refusalOf } from "../domain/agent-wait.ts";

/** Lanes are explained while the number of lanes times the number of agents is below this. */
const COMPARISONS = 20_000;

interface AgentCounts {
  readonly agents: { online: number; refusing: number; draining: number; lost: number };
  readonly slots: { busy: number; free: number; withheld: number };
}

/** Counts the agents and the slots by state. */
export async function readAgents({ presence }: Pick<AppContext, "presence">): Promise<AgentCounts> {
  const [online, lost] = await Promise.all([presence.online(ONLINE_MS), presence.lost()]);
  const agents = { online: 0, refusing: 0, draining: 0, lost: lost.length };
  const slots = { busy: 0, free: 0, withheld: 0 };
  for (const agent of online) {
    const refuses = refusalOf(agent) !== "";
    if (agent.draining === true) agents.draining++;
    else if (refuses) agents.refusing++;
    else agents.online++;
    slots.busy += agent.busy;
    slots[refuses ? "withheld" : "free"] += Math.max(0, agent.slots - agent.busy);
  }
  return { agents, slots };
}

/**
 * Counts the offers of the lanes by the reason of their wait. Lanes beyond a bound, the shortest ones, count as `agent`.
 */
export async function readWaits(
  { presence, board }: Pick<AppContext, "presence" | "board">,
  lanes: readonly WaitingLane[],
): Promise<Readonly<Record<AgentWait["reason"], number>>> {
  const counts = { no_agent_online: 0, no_agent_matches: 0, all_busy: 0, quota: 0, agent: 0 };
  if (lanes.length === 0) return counts;
  const projects = lanes.map(({ lane }) => lane.projectId);
  const [online, quotas, tenants] = await Promise.all([
    presence.online(ONLINE_MS),
    board.quotaUse(projects),
    board.tenantsOf(projects),
  ]);
  const explained = Math.ceil(COMPARISONS / Math.max(1, online.length));
  for (const [at, { lane, offers }] of lanes.toSorted((a, b) => b.offers - a.offers).entries()) {
    const { reason } =
      at < explained
        ? agentWait(lane.selector, lane.projectId, { online, quotas, tenants })
        : ({ reason: "agent" } as const);
    counts[reason] += offers;
  }
  return counts;
}
