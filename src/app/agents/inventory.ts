/** The inventory of agents: the registered agents, with the presence of those that are online. */
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import type { PresenceRecord } from "../../board/board.ts";
import type { Agents } from "../../domain/agent-wait.ts";
import type { AgentId, JobRunId, PipelineId, ProjectId, RunId } from "../../domain/ids.ts";
import { labelledAgent, overruledLabels } from "../../domain/labels.ts";
import type { QuotaUse } from "../../domain/quotas.ts";
import { type Agent, isDrained } from "../../stores/ports/identity.ts";
import { authoriseLookUp, type Caller } from "../identity/access.ts";
import type { WithStores } from "../context.ts";
import type { AgentsContext } from "./context.ts";
import { id, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { actingIn, type RightsContext } from "../reaching.ts";
import { rfc3339 } from "../times.ts";
import { agentSight, reachShape, seeAgent } from "./reaching-agents.ts";

type DetailContext = Pick<AgentsContext, "presence" | "log"> & RightsContext & WithStores<"identity" | "aggregates">;

/** An agent is online if it was heard within this time. */
export const ONLINE_MS = 30_000;

const DrainShape = shape("AgentDrain", () => ({
  /** Name of the user who drained the agent. */
  by: z.string(),
  at: time,
  reason: z.string(),
}));

const agentFields = () => ({
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
  /** The agent takes no new job and finishes what it holds: an operator has drained it, or it ends. */
  draining: z.boolean(),
  /** Null unless an operator has drained the agent. */
  drain: DrainShape.nullable(),
  /** Which jobs the agent may get; null for an agent of the installation, which may get those of every project. */
  reach: reachShape.nullable(),
});

export const AgentShape = shape("Agent", agentFields);

export type AgentView = z.infer<typeof AgentShape>;

/** A label, with who has set it. */
const LabelSourceShape = shape("AgentLabel", () => ({
  key: z.string(),
  /** The value that counts. */
  value: z.string(),
  setBy: z.enum(["agent", "user", "registrationToken"]),
  /** Name of the user or token; null for the agent's own labels, and where it is not known. */
  by: z.string().nullable(),
  at: time.nullable(),
}));

/** A job that an agent holds. */
export const HeldJobShape = shape("HeldJob", () => ({
  runId: id<RunId>(),
  jobId: id<JobRunId>(),
  pipelineId: id<PipelineId>(),
  projectId: id<ProjectId>(),
}));

export const AgentDetailShape = shape("AgentDetail", () => ({
  ...agentFields(),
  /** Every label that counts, by key. */
  labelSources: listOf(LabelSourceShape),
  /** How many jobs the agent holds. */
  jobsHeld: wholeNumber,
  /** Those of them that the caller may see. */
  jobs: listOf(HeldJobShape),
}));

export type AgentDetail = z.infer<typeof AgentDetailShape>;

export async function listAgents(
  context: Pick<AgentsContext, "presence" | "log"> & RightsContext & WithStores<"identity">,
  caller: Caller,
  request: WholeListRequest = {},
): Promise<WholeListView<AgentView>> {
  const sight = await agentSight(context, caller);
  const list = (await readInventory(context))
    .filter((agent) => sight.sees(agent))
    .map((agent) => ({ ...agent, reach: sight.reachOf(agent) }));
  return wholeListView(list, request, ({ name, agentId }) => ({ at: name, id: agentId }));
}

/** An agent, with who has set its labels and the jobs that it holds. Throws `not_found`. */
export async function getAgent(
  context: DetailContext,
  caller: Caller,
  { agentId }: { readonly agentId: AgentId },
): Promise<AgentDetail> {
  const user = authoriseLookUp(caller, "readAgents");
  const agent = await seeAgent(context, caller, agentId);
  const { reachOf } = await agentSight(context, caller);
  const [shown, held] = await Promise.all([viewAgent(context, agent), context.stores.aggregates.jobsHeldBy(agentId)]);
  const jobs: z.infer<typeof HeldJobShape>[] = [];
  for (const { runId, jobId } of held) {
    const summary = (await context.stores.aggregates.loadHead(runId))?.summary;
    if (summary === undefined || (await actingIn(context, user, summary.projectId)) === undefined) continue;
    jobs.push({ runId, jobId, pipelineId: summary.pipelineId, projectId: summary.projectId });
  }
  return { ...shown, reach: reachOf(agent), labelSources: labelSourcesOf(agent), jobsHeld: held.length, jobs };
}

function labelSourcesOf(agent: Agent): AgentDetail["labelSources"] {
  const { labels } = labelledAgent(agent);
  const { trustedLabels = {}, labelledBy } = agent;
  const given = {
    setBy: labelledBy?.kind ?? "user",
    by: labelledBy?.name ?? null,
    at: rfc3339(labelledBy?.at ?? null),
  };
  const told = { setBy: "agent", by: null, at: null } as const;
  return Object.keys(labels)
    .toSorted()
    .map((key) => ({ key, value: labels[key]!, ...(Object.hasOwn(trustedLabels, key) ? given : told) }));
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
  return { ...agentView(agent, record, online !== null), ...labelsOf(agent) };
}

function labelsOf(agent: Agent): Pick<AgentView, "labels" | "trusted"> {
  const { labels, trusted = [] } = labelledAgent(agent);
  return { labels, trusted };
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
    // The gateway of the agent may not have learned yet that an operator has ended the drain.
    draining: isDrained(agent) || (record?.draining === true && record.drained !== true),
    reach: agent.reach ?? null,
    drain: isDrained(agent) ? { ...agent.drain!, at: rfc3339(agent.drain!.at) } : null,
  };
}

/** Agents that are online. Null when presence cannot be read: views of runs are shown all the same. */
export async function readOnline(
  context: Pick<AgentsContext, "presence" | "log">,
): Promise<readonly PresenceRecord[] | null> {
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
  const needsTenants =
    online?.some(({ reach }) => reach !== undefined) === true ||
    quotas.some(({ subject }) => subject.kind === "tenant");
  const tenants = needsTenants ? await context.board.tenantsOf(projectIds) : new Map();
  return { online, quotas, tenants };
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
