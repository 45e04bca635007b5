/** Which agents a job's selector matches, and which clauses the other agents fail. Pure. */
import { type AgentSelector, failingClause, type LabelledAgent } from "./labels.ts";

export interface FailingClause {
  /** As text for people: `os=linux`. */
  readonly clause: string;
  /** Number of agents for which this is the first clause that fails. */
  readonly agents: number;
}

export interface AgentMatch<Agent> {
  readonly matching: readonly Agent[];
  /** In the order in which the agents fail them first. */
  readonly failing: readonly FailingClause[];
}

export function matchAgents<Agent extends LabelledAgent>(
  selector: AgentSelector,
  agents: readonly Agent[],
): AgentMatch<Agent> {
  const matching: Agent[] = [];
  const failing = new Map<string, number>();
  for (const agent of agents) {
    const clause = failingClause(selector, agent);
    if (clause === undefined) matching.push(agent);
    else failing.set(clause, (failing.get(clause) ?? 0) + 1);
  }
  return { matching, failing: Array.from(failing, ([clause, count]) => ({ clause, agents: count })) };
}

/**
 * The clauses with how many of `online` agents fail each: `os=linux (2 of 3 agents fail it), gpu Exists (1 of 3 agents
 * fails it)`.
 */
export function describeFailing(failing: readonly FailingClause[], online: number): string {
  return failing
    .map(({ clause, agents }) => {
      const count =
        online === 1 ? "the only agent fails" : `${agents} of ${online} agents ${agents === 1 ? "fails" : "fail"}`;
      return `${clause} (${count} it)`;
    })
    .join(", ");
}
