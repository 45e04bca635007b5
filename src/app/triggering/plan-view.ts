/** A dry run as HTTP, gRPC and the command line show it, with the matching online agents of each job. Pure. */
import { type AgentSelector, describeSelector, type Labels } from "../../domain/labels.ts";
import type { Scalar } from "../../domain/plan.ts";
import type { DryJob, DryRun, DryStage } from "../../planner/dry-run.ts";
import { type FailingClause, matchAgents } from "../../domain/agent-match.ts";

export interface PlanView extends Omit<DryRun, "stages" | "secrets"> {
  readonly stages: readonly StageView[];
  readonly secrets: readonly SecretUse[];
}

/** A secret that steps of the run read. */
export interface SecretUse {
  readonly name: string;
  /** Whether the pipeline or its project has a secret of that name; null when the caller did not look it up. */
  readonly isSet: boolean | null;
}

export interface StageView extends Omit<DryStage, "jobs"> {
  readonly jobs: readonly JobView[];
}

export interface JobView extends Omit<DryJob, "matrix" | "selector"> {
  readonly matrix: Readonly<Record<string, Scalar>>;
  /** The clauses of the job's selector for people, such as `os=linux`; empty when any agent matches. */
  readonly selector: readonly string[];
  /** Null when the caller did not look agents up, or when presence cannot be read. */
  readonly agents: AgentsView | null;
}

export interface AgentsView {
  readonly online: number;
  readonly matches: number;
  /** In the order of their names: at most 100 agents, and fewer in plans of more than 100 jobs. */
  readonly matching: readonly { readonly agentId: string; readonly name: string }[];
  /** The clauses that the other agents fail; the clause that most agents fail comes first. */
  readonly failing: readonly FailingClause[];
}

export interface OnlineAgent {
  readonly agentId: string;
  readonly name: string;
  readonly labels: Labels;
}

const MAX_LISTED = 100;
const MAX_LISTED_IN_ALL = 10_000;

/** `secretsSet`: names of the secrets that are set. Both `online` and `secretsSet` are null when they are not known. */
export function viewPlan(
  plan: DryRun,
  online: readonly OnlineAgent[] | null,
  secretsSet: ReadonlySet<string> | null = null,
): PlanView {
  const agentsFor = online === null ? () => null : agentsViewer(online, plan.jobsCount);
  return {
    ...plan,
    secrets: plan.secrets.map((name) => ({ name, isSet: secretsSet?.has(name) ?? null })),
    stages: plan.stages.map((stage) => ({
      ...stage,
      jobs: stage.jobs.map((job) => ({
        ...job,
        matrix: Object.fromEntries(job.matrix),
        selector: describeSelector(job.selector),
        agents: agentsFor(job.selector),
      })),
    })),
  };
}

function agentsViewer(online: readonly OnlineAgent[], jobs: number): (selector: AgentSelector) => AgentsView {
  const listed = Math.min(MAX_LISTED, Math.ceil(MAX_LISTED_IN_ALL / Math.max(jobs, 1)));
  const agents = online.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  // Cells of a matrix share their selector.
  const known = new Map<AgentSelector, AgentsView>();
  return (selector) => {
    const found = known.get(selector) ?? viewAgents(selector, agents, listed);
    known.set(selector, found);
    return found;
  };
}

function viewAgents(selector: AgentSelector, agents: readonly OnlineAgent[], listed: number): AgentsView {
  const { matching, failing } = matchAgents(selector, agents);
  return {
    online: agents.length,
    matches: matching.length,
    matching: matching.slice(0, listed).map(({ agentId, name }) => ({ agentId, name })),
    failing: failing.toSorted((a, b) => b.agents - a.agents),
  };
}
