/** Why a queued job waits, by the agents that are online and by the quotas. Pure. */
import { describeFailing, matchAgents } from "./agent-match.ts";
import type { ProjectId } from "./ids.ts";
import type { AgentSelector, LabelledAgent } from "./labels.ts";
import { isReached, type QuotaUse } from "./quotas.ts";

interface OnlineAgent extends LabelledAgent {
  readonly slots: number;
  readonly busy: number;
  /** Why the agent takes no jobs even with free slots, for people; empty or absent when it does. */
  readonly takesNoJobs?: string;
  /** The agent takes no new job: it ends, or an operator has drained it. */
  readonly draining?: boolean;
}

/** What is known about the agents and quotas. */
export interface Agents {
  /** Null when presence could not be read. */
  readonly online: readonly OnlineAgent[] | null;
  readonly quotas: readonly QuotaUse[];
}

/** `agent`: an agent could take the job, or presence could not be read. */
export interface AgentWait {
  readonly reason: "no_agent_online" | "no_agent_matches" | "all_busy" | "quota" | "agent";
  /**
   * The clauses that fail, or the name of the quota; else empty. Two waits with the same reason and clause are the
   * same.
   */
  readonly clause: string;
  /** For people. */
  readonly text: string;
}

/** Why a job of this project waits for an agent that `selector` matches. */
export function agentWait(selector: AgentSelector, projectId: ProjectId, { online, quotas }: Agents): AgentWait {
  if (online === null) return { reason: "agent", clause: "", text: "waits for an agent" };
  if (online.length === 0) return { reason: "no_agent_online", clause: "", text: "no agent is online" };
  const { matching, failing } = matchAgents(selector, online);
  if (matching.length === 0) {
    const clause = failing
      .map((failed) => failed.clause)
      .toSorted()
      .join(", ");
    const text = `no online agent matches: ${describeFailing(failing, online.length)}`;
    return { reason: "no_agent_matches", clause, text };
  }
  const reached = reachedQuota(projectId, matching, quotas);
  if (reached !== undefined) return { reason: "quota", clause: reached.name, text: describeQuota(reached) };
  if (matching.every(isBusy)) {
    const count = matching.length === 1 ? "the only matching agent is" : `all ${matching.length} matching agents are`;
    return { reason: "all_busy", clause: "", text: `${count} ${describeBusy(matching)}` };
  }
  return { reason: "agent", clause: "", text: "waits for an agent to take it" };
}

/**
 * The quota of the project, when it is reached; else a quota of agents, when every matching agent with a free slot is
 * under a reached one.
 */
function reachedQuota(
  projectId: ProjectId,
  matching: readonly OnlineAgent[],
  quotas: readonly QuotaUse[],
): QuotaUse | undefined {
  const reached = quotas.filter(isReached);
  const ofProject = reached.find(({ subject }) => subject.kind === "project" && subject.projectId === projectId);
  if (ofProject !== undefined) return ofProject;
  const idle = matching.filter((agent) => !isBusy(agent));
  const over = idle.map(({ labels }) =>
    reached.find(({ subject }) => subject.kind === "label" && labels[subject.key] === subject.value),
  );
  return over.includes(undefined) ? undefined : over[0];
}

function describeQuota({ subject, taken, limit }: QuotaUse): string {
  const whose =
    subject.kind === "project" ? `project ${subject.projectId}` : `agents with ${subject.key}=${subject.value}`;
  return `the quota of ${whose} is reached: ${taken} of ${limit} jobs run`;
}

function isBusy(agent: OnlineAgent): boolean {
  return agent.busy >= agent.slots || refusalOf(agent) !== "";
}

/** Why the agent takes no jobs whatever slots are free; empty when it does. */
function refusalOf({ draining = false, takesNoJobs = "" }: OnlineAgent): string {
  return draining ? "it is draining: it finishes what it holds and takes no new job" : takesNoJobs;
}

/** Names the reason of the first agent that takes no jobs, as an example for the others. */
function describeBusy(matching: readonly OnlineAgent[]): string {
  const reasons = matching.map(refusalOf).filter((reason) => reason !== "");
  if (reasons.length === 0) return "busy";
  if (reasons.length === 1 && matching.length === 1) return `not taking jobs: ${reasons[0]}`;
  return `busy, or not taking jobs (${reasons.length} of them; one: ${reasons[0]})`;
}
