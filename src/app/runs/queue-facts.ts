/**
 * What the jobs of a run that wait for an agent are told of the others: how many offers go before theirs, and which jobs hold
 * the agents and the places for which they wait. Everything is bounded, and a caller sees no job of a project that the
 * caller may not read.
 */
import type { z } from "zod";
import { type JobState, priorityOf } from "../../../actors/job/state.ts";
import type { Agents } from "../../domain/agent-wait.ts";
import type { AgentId, JobRunId, ProjectId, RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { isReached } from "../../domain/quotas.ts";
import type { JobLocation } from "../../stores/ports/aggregates.ts";
import { HeldJobShape } from "../agents/inventory.ts";
import type { Caller } from "../identity/access.ts";
import { projectIdsFor } from "../reaching.ts";
import { agentFacts } from "./agent-facts.ts";
import type { RunsContext } from "./context.ts";

export type HeldJob = z.infer<typeof HeldJobShape>;

export interface QueueFacts {
  /** How many offers go before that of a job. A job whose place is not known is absent. */
  readonly ahead: ReadonlyMap<JobRunId, number>;
  /** Jobs that hold slots of an agent; absent for an agent that was not looked at. */
  readonly ofAgents: ReadonlyMap<AgentId, readonly HeldJob[]>;
  /** Jobs that have places in a quota, by its name; absent for a quota that was not looked at. */
  readonly ofQuotas: ReadonlyMap<string, readonly HeldJob[]>;
}

/** Agents and quotas whose holders one answer tells. */
const MAX_AGENTS = 10;
const MAX_QUOTAS = 3;
/** Jobs that are told for each of them. */
const MAX_HOLDERS = 5;
/** Places of a quota that are looked at: those of projects that the caller may not read are not told. */
const MAX_PLACES = 10;

/** Undefined when none of the jobs waits for an agent. */
export async function readQueueFacts(
  context: RunsContext,
  caller: Caller,
  { plan, agents, isShared = false }: { readonly plan: RunPlan; readonly agents: Agents; readonly isShared?: boolean },
  shown: readonly JobState[],
): Promise<QueueFacts | undefined> {
  const waiting = shown.filter((job) => job.state === "queued" && !job.paused && plan.jobs[job.index] !== undefined);
  if (waiting.length === 0 || agents.online === null) return undefined;
  const { projectId } = plan;
  const busy = new Set<AgentId>();
  for (const { index } of waiting) {
    for (const { agentId, takesNoJobs } of agentFacts(plan.jobs[index]!.selector, projectId, agents)?.busy ?? []) {
      if (takesNoJobs === "" && busy.size < MAX_AGENTS) busy.add(agentId);
    }
  }
  // Those of this project, of its tenant and of agents: the agents of one run are read for its project only.
  const quotas = agents.quotas.filter(isReached);
  const [ahead, ofAgents, ofQuotas] = await Promise.all([
    placesOf(context, waiting, plan, agents),
    Promise.all([...busy].map((agentId) => context.stores.aggregates.jobsHeldBy(agentId, MAX_HOLDERS))),
    Promise.all(quotas.slice(0, MAX_QUOTAS).map(({ name }) => holdersOf(context, name))),
  ]);
  const view = await viewHolders(context, caller, isShared ? projectId : null, [...ofAgents, ...ofQuotas].flat());
  const held = (jobs: readonly JobLocation[]): readonly HeldJob[] => jobs.flatMap(view).slice(0, MAX_HOLDERS);
  return {
    ahead,
    ofAgents: new Map([...busy].map((agentId, at) => [agentId, held(ofAgents[at]!)])),
    ofQuotas: new Map(ofQuotas.map((jobs, at) => [quotas[at]!.name, held(jobs)])),
  };
}

async function placesOf(
  { queue, log }: Pick<RunsContext, "queue" | "log">,
  waiting: readonly JobState[],
  { jobs, projectId }: RunPlan,
  { online, tenants }: Agents,
): Promise<ReadonlyMap<JobRunId, number>> {
  if (queue === undefined || online === null) return new Map();
  const tenantId = tenants?.get(projectId);
  const queued = waiting.map((job) => {
    const { jobId, index, queuedAt } = job;
    const priority = priorityOf(job, { jobs });
    const { selector } = jobs[index]!;
    return { jobId, projectId, ...(tenantId !== undefined && { tenantId }), priority, selector, queuedAt: queuedAt! };
  });
  try {
    return await queue.placesOf(queued, online);
  } catch (error) {
    log.warn({ error: String(error) }, "the places of jobs in the queue could not be read");
    return new Map();
  }
}

async function holdersOf(
  { queue, stores, log }: Pick<RunsContext, "queue" | "log" | "stores">,
  quota: string,
): Promise<readonly JobLocation[]> {
  try {
    const jobIds = (await queue?.holdersOf(quota, MAX_PLACES)) ?? [];
    const found = await Promise.all(jobIds.map((jobId) => stores.aggregates.findJob(jobId)));
    return found.filter((job) => job !== undefined);
  } catch (error) {
    log.warn({ error: String(error) }, "the jobs under a quota could not be read");
    return [];
  }
}

/**
 * Answers how the caller sees one of the jobs: empty for a job that the caller may not read. `only`: the one project of
 * which jobs are told, for an answer that goes to several callers.
 */
async function viewHolders(
  context: RunsContext,
  caller: Caller,
  only: ProjectId | null,
  jobs: readonly JobLocation[],
): Promise<(job: JobLocation) => readonly HeldJob[]> {
  if (jobs.length === 0) return () => [];
  const projectIds = only === null ? (await projectIdsFor(context, caller, "readRuns")).projectIds : [only];
  const visible = projectIds && new Set(projectIds);
  const heads = new Map<RunId, Omit<HeldJob, "jobId">>();
  for (const runId of new Set(jobs.map((job) => job.runId))) {
    const summary = (await context.stores.aggregates.loadHead(runId))?.summary;
    if (summary === undefined || visible?.has(summary.projectId) === false) continue;
    heads.set(runId, { runId, pipelineId: summary.pipelineId, projectId: summary.projectId });
  }
  return ({ runId, jobId }) => {
    const head = heads.get(runId);
    return head === undefined ? [] : [{ ...head, jobId }];
  };
}
