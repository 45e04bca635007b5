/** A dry run as HTTP, gRPC and the command line show it, with the matching online agents of each job. Pure. */
import type { z } from "zod";
import { matchAgents } from "../../domain/agent-wait.ts";
import { type AgentSelector, describeSelector, type Labels } from "../../domain/labels.ts";
import type { DryRun } from "../../planner/dry-run.ts";
import type { PlanShape } from "./plan-shape.ts";

export type PlanView = z.infer<typeof PlanShape>;
export type StageView = PlanView["stages"][number];
export type JobView = StageView["jobs"][number];
export type AgentsView = NonNullable<JobView["agents"]>;

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
