/** Which agents match the selector of a job, and why a queued job waits: by the agents that are online, and by the quotas. Pure. */
import type { AgentId, ProjectId, StepRunId, TenantId } from "./ids.ts";
import {
  type AgentSelector,
  describeFailed,
  type FailedClause,
  firstFailed,
  type LabelledAgent,
  isReached as isReachedBy,
} from "./labels.ts";
import { isReached, type QuotaUse } from "./quotas.ts";

interface OnlineAgent extends LabelledAgent {
  readonly agentId?: AgentId;
  readonly slots: number;
  readonly busy: number;
  /** Why the agent takes no jobs even with free slots, for people; empty or absent when it does. */
  readonly takesNoJobs?: string;
  /** The agent takes no new job: it ends, or an operator has drained it. */
  readonly draining?: boolean;
  /** Steps that it was granted and that are not sent yet, with what they wait for. */
  readonly waits?: readonly { readonly stepRunId: StepRunId; readonly text: string }[];
}

/** What is known about the agents and quotas. */
export interface Agents {
  /** Null when presence could not be read. */
  readonly online: readonly OnlineAgent[] | null;
  readonly quotas: readonly QuotaUse[];
  /** The tenants of the projects whose jobs wait; of others, bound agents cannot be told from those of another tenant. */
  readonly tenants?: ReadonlyMap<ProjectId, TenantId>;
}

/** Agents that an explanation names. */
const NAMED = 3;
const NO_TENANTS: ReadonlyMap<ProjectId, TenantId> = new Map();

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
export function agentWait(
  selector: AgentSelector,
  projectId: ProjectId,
  { online: all, quotas, tenants = NO_TENANTS }: Agents,
): AgentWait {
  if (all === null) return { reason: "agent", clause: "", text: "waits for an agent" };
  const tenantId = tenants.get(projectId) ?? null;
  const online = agentsInReach(projectId, all, tenants);
  // What belongs to other tenants is as if it were not there.
  const unreachable = all.filter(
    ({ reach }) => reach?.tenantId === tenantId && !isReachedBy(reach, { projectId, tenantId }),
  );
  const others = describeUnreachable(unreachable);
  if (online.length === 0 && unreachable.length === 0) {
    return { reason: "no_agent_online", clause: "", text: "no agent is online" };
  }
  if (online.length === 0)
    return { reason: "no_agent_matches", clause: REACH, text: `no online agent may take it: ${others}` };
  const { matching, failing } = matchAgents(selector, online);
  if (matching.length === 0) {
    const clause = failing
      .map((failed) => failed.clause)
      .toSorted()
      .join(", ");
    const text = `no online agent matches: ${describeFailing(failing, online.length)}`;
    return { reason: "no_agent_matches", clause, text: others === "" ? text : `${text}; ${others}` };
  }
  const reached = reachedQuota(projectId, tenantId, matching, quotas);
  if (reached !== undefined) return { reason: "quota", clause: reached.name, text: describeQuota(reached) };
  if (matching.every(isBusy)) {
    const count = matching.length === 1 ? "the only matching agent is" : `all ${matching.length} matching agents are`;
    const bound = describeUnreachable(matchAgents(selector, unreachable).matching);
    const text = `${count} ${describeBusy(matching)}`;
    return { reason: "all_busy", clause: "", text: bound === "" ? text : `${text}; ${bound}` };
  }
  return { reason: "agent", clause: "", text: "waits for an agent to take it" };
}

/** The agents that may take jobs of the project, whatever their labels. */
export function agentsInReach<Agent extends LabelledAgent>(
  projectId: ProjectId,
  agents: readonly Agent[],
  tenants: Agents["tenants"] = NO_TENANTS,
): readonly Agent[] {
  const tenantId = tenants.get(projectId) ?? null;
  return agents.filter(({ reach }) => isReachedBy(reach, { projectId, tenantId }));
}

/**
 * The quota of the project or of its tenant, when it is reached; else a quota of agents, when every matching agent with a free slot is
 * under a reached one.
 */
function reachedQuota(
  projectId: ProjectId,
  tenantId: TenantId | null,
  matching: readonly OnlineAgent[],
  quotas: readonly QuotaUse[],
): QuotaUse | undefined {
  const reached = quotas.filter(isReached);
  const ofProject =
    reached.find(({ subject }) => subject.kind === "project" && subject.projectId === projectId) ??
    reached.find(({ subject }) => subject.kind === "tenant" && subject.tenantId === tenantId);
  if (ofProject !== undefined) return ofProject;
  const idle = matching.filter((agent) => !isBusy(agent));
  const over = idle.map(({ labels }) =>
    reached.find(({ subject }) => subject.kind === "label" && labels[subject.key] === subject.value),
  );
  return over.includes(undefined) ? undefined : over[0];
}

function describeQuota({ subject, taken, limit }: QuotaUse): string {
  return `the quota of ${describeSubject(subject)} is reached: ${taken} of ${limit} jobs run`;
}

function describeSubject(subject: QuotaUse["subject"]): string {
  switch (subject.kind) {
    case "project":
      return `project ${subject.projectId}`;
    case "tenant":
      return `tenant ${subject.tenantId}`;
    case "label":
      return `agents with ${subject.key}=${subject.value}`;
  }
}

/** Stands in {@link AgentWait.clause} for the reach of the agents. */
const REACH = "reach";

/** Names agents of the project's tenant that are bound to other projects; empty without one. */
function describeUnreachable(agents: readonly OnlineAgent[]): string {
  if (agents.length === 0) return "";
  const names = agents.flatMap(({ agentId }) => agentId ?? []).slice(0, NAMED);
  const rest = agents.length - names.length;
  const listed = [...names, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return `bound to other projects, so out of reach: ${listed}`;
}

/** True for an agent that takes no job now. */
export function isBusy(agent: OnlineAgent): boolean {
  return agent.busy >= agent.slots || refusalOf(agent) !== "";
}

/** Why the agent takes no jobs whatever slots are free; empty when it does. */
export function refusalOf({ draining = false, takesNoJobs = "" }: OnlineAgent): string {
  return draining ? "it is draining: it finishes what it holds and takes no new job" : takesNoJobs;
}

/** Names the reason of the first agent that takes no jobs, as an example for the others. */
function describeBusy(matching: readonly OnlineAgent[]): string {
  const reasons = matching.map(refusalOf).filter((reason) => reason !== "");
  if (reasons.length === 0) return "busy";
  if (reasons.length === 1 && matching.length === 1) return `not taking jobs: ${reasons[0]}`;
  return `busy, or not taking jobs (${reasons.length} of them; one: ${reasons[0]})`;
}

interface FailingClause {
  /** As text for people: `os=linux`. */
  readonly clause: string;
  /** Number of agents for which this is the first clause that fails. */
  readonly agents: number;
}

interface AgentMatch<Agent> {
  readonly matching: readonly Agent[];
  /** In the order in which the agents fail them first. */
  readonly failing: readonly FailingClause[];
}

export function matchAgents<Agent extends LabelledAgent>(
  selector: AgentSelector,
  agents: readonly Agent[],
): AgentMatch<Agent> {
  const matching: Agent[] = [];
  const failing = new Map<FailedClause, number>();
  for (const agent of agents) {
    const clause = firstFailed(selector, agent);
    if (clause === undefined) matching.push(agent);
    else failing.set(clause, (failing.get(clause) ?? 0) + 1);
  }
  const described = Array.from(failing, ([clause, count]) => ({
    clause: describeFailed(selector, clause),
    agents: count,
  }));
  return { matching, failing: described };
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
