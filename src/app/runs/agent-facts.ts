/** What is known of the agents that a queued job waits for, for programs; `text` of the wait says the same for people. Pure. */
import type { z } from "zod";
import { type Agents, agentsInReach, isBusy, refusalOf } from "../../domain/agent-wait.ts";
import type { AgentId, ProjectId } from "../../domain/ids.ts";
import { type AgentSelector, failingClauses } from "../../domain/labels.ts";
import type { AgentFactsShape } from "./run-shapes.ts";

export type AgentFacts = z.infer<typeof AgentFactsShape>;

/** Agents that are named in one place, at most. */
const NAMED = 5;

/** Many jobs of a run have the same selector. */
const known = new WeakMap<Agents, Map<string, AgentFacts>>();

/**
 * The agents that may take jobs of the project; others may belong to another tenant, and are not named. Null when presence
 * could not be read.
 */
export function agentFacts(selector: AgentSelector, projectId: ProjectId, agents: Agents): AgentFacts | null {
  if (agents.online === null) return null;
  const bySelector = known.get(agents) ?? new Map<string, AgentFacts>();
  known.set(agents, bySelector);
  const key = JSON.stringify([projectId, selector]);
  const facts = bySelector.get(key) ?? factsOf(selector, agentsInReach(projectId, agents.online, agents.tenants));
  bySelector.set(key, facts);
  return facts;
}

function factsOf(selector: AgentSelector, online: NonNullable<Agents["online"]>): AgentFacts {
  const failing = new Map<string, { agents: number; agentIds: AgentId[] }>();
  const busy: AgentFacts["busy"][number][] = [];
  let matching = 0;
  let nearest: AgentFacts["nearest"] = null;
  for (const agent of online) {
    const { agentId } = agent;
    const clauses = failingClauses(selector, agent);
    for (const clause of clauses) {
      const found = failing.get(clause) ?? { agents: 0, agentIds: [] };
      failing.set(clause, found);
      found.agents++;
      if (agentId !== undefined && found.agentIds.length < NAMED) found.agentIds.push(agentId);
    }
    if (clauses.length === 0) {
      matching++;
      if (agentId === undefined || !isBusy(agent) || busy.length >= NAMED) continue;
      busy.push({ agentId, busy: agent.busy, slots: agent.slots, takesNoJobs: refusalOf(agent) });
    } else if (agentId !== undefined && (nearest === null || clauses.length < nearest.failing.length)) {
      nearest = { agentId, failing: clauses };
    }
  }
  return {
    online: online.length,
    matching,
    failing: Array.from(failing, ([clause, found]) => ({ clause, ...found })),
    nearest: matching === 0 ? nearest : null,
    busy,
  };
}
