/**
 * The demand for agents: the jobs that wait for one, by project and selector, with the agents that would serve them. Programs
 * that start and stop agents follow it. Its cost is bounded: the board is read once a second at most, and of many groups the
 * ones that have waited longest are compared with the agents.
 */
import { z } from "zod";
import { agentsInReach, agentWait, isBusy, type Agents, matchAgents } from "../../domain/agent-wait.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type AgentId, asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import {
  type AgentSelector,
  describeSelector,
  LABEL_OPERATORS,
  type LabelledAgent,
  labelledAgent,
  parseLabels,
  selectorMatches,
} from "../../domain/labels.ts";
import { type Agent, isDrained } from "../../stores/ports/identity.ts";
import { readAgents, readOnline } from "../agents/inventory.ts";
import { agentSight, type AgentSight } from "../agents/reaching-agents.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import { projectIdsFor, reachProject, type RightsContext } from "../reaching.ts";
import { fields, id, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { elapsed, rfc3339 } from "../times.ts";
import { agentFacts } from "./agent-facts.ts";
import { AgentFactsShape } from "./run-shapes.ts";

const MAX_GROUPS = 1_000;
/** Comparisons of a group with an agent in one call: a few milliseconds. */
const MAX_COMPARISONS = 20_000;
/** Agents that one group names. */
const NAMED = 5;
const MAX_LABEL_CHARS = 4_000;
const idText = z.string().min(1).max(64);

const labelsText = z
  .string()
  .max(MAX_LABEL_CHARS)
  .transform((text, check) => {
    const labels = text === "" ? {} : parseLabels(text);
    if (labels !== undefined) return labels;
    check.addIssue("must be key=value pairs separated by commas, with one value for each key");
    return z.NEVER;
  });

const keysText = z
  .string()
  .max(MAX_LABEL_CHARS)
  .transform((text) => text.split(",").map((key) => key.trim()));

export const demandQuery = z.strictObject({
  projectId: idText.optional(),
  tenantId: idText.optional(),
  /** Only jobs that an agent with these labels would get: `pool=linux,gpu=yes`; empty for an agent without labels. */
  labels: labelsText.optional(),
  /** Keys of those labels that an operator gives, separated by commas. */
  trusted: keysText.optional(),
});

export type DemandQuery = z.output<typeof demandQuery>;

const SelectorShape = shape("AgentSelector", () => ({
  matchLabels: mapOf(z.string()),
  matchExpressions: listOf(
    fields(() => ({ key: z.string(), operator: z.enum(LABEL_OPERATORS), values: listOf(z.string()) })),
  ),
  /** Only labels that an operator has given count. */
  trusted: z.boolean(),
  /** The agent needs the label `container-engine`. */
  containerEngine: z.boolean(),
  /** Every program of the jobs runs in a container, so that agents which demand that may take them. */
  contained: z.boolean(),
}));

const DemandGroupShape = shape("DemandGroup", () => ({
  projectId: id<ProjectId>(),
  /** Null where it is not known. */
  tenantId: id<TenantId>().nullable(),
  selector: SelectorShape,
  /** The clauses of the selector for people; empty when any agent matches. */
  clauses: listOf(z.string()),
  /** Jobs that wait. */
  waiting: wholeNumber,
  /** Since when the oldest of them waits. */
  oldestAt: time,
  /** Milliseconds. */
  oldestAge: wholeNumber,
  wait: fields(() => ({
    reason: z.enum(["no_agent_online", "no_agent_matches", "all_busy", "quota", "agent"]),
    /** For people. */
    text: z.string(),
  })),
  /** Free slots of the online agents that match. */
  freeSlots: wholeNumber,
  /** Null when presence cannot be read, and for groups beyond those that one call compares. */
  online: AgentFactsShape.nullable(),
  /** Registered agents that are offline and would match; at most five are named. Null as `online`. */
  offline: fields(() => ({ matching: wholeNumber, agentIds: listOf(id<AgentId>()) })).nullable(),
}));

export const AgentDemandShape = shape("AgentDemand", () => ({
  /** Jobs that wait in all groups. */
  waiting: wholeNumber,
  /** The longest age of a group, milliseconds; 0 without one. */
  oldestAge: wholeNumber,
  /** False when more wait than one call reads: then `waiting` is less than it is. */
  complete: z.boolean(),
  /** The oldest first. */
  groups: listOf(DemandGroupShape),
  /** The online agents that have all of the given labels, as far as the caller may see them. Null when presence cannot be read. */
  agents: fields(() => ({ online: wholeNumber, slots: wholeNumber, busy: wholeNumber })).nullable(),
}));

export type AgentDemand = z.infer<typeof AgentDemandShape>;

type DemandContext = Pick<AppContext, "board" | "queue" | "presence" | "clock" | "log"> &
  RightsContext &
  WithStores<"identity">;

type Lanes = Awaited<ReturnType<NonNullable<DemandContext["queue"]>["waiting"]>>["lanes"];

interface Group {
  readonly projectId: ProjectId;
  readonly selector: AgentSelector;
  waiting: number;
  oldest: number;
}

/** Throws `not_found` for a project that is missing, and `unavailable` when the board cannot be read. */
export async function readDemand(context: DemandContext, caller: Caller, query: DemandQuery): Promise<AgentDemand> {
  const { groups, isWhole } = await readGroups(context, caller, query);
  const shown = groups.toSorted((a, b) => a.oldest - b.oldest).slice(0, MAX_GROUPS);
  const [agents, registered, sight] = await Promise.all([
    // Presence is read also when no job waits: the caller counts the agents.
    shown.length === 0
      ? readOnline(context).then((online): Agents => ({ online, quotas: [] }))
      : readAgents(
          context,
          shown.map(({ projectId }) => projectId),
        ),
    context.stores.identity.listAgents(),
    agentSight(context, caller),
  ]);
  const view = viewer(context, agents, registered);
  return {
    waiting: waitingIn(groups),
    oldestAge: shown[0] === undefined ? 0 : elapsed(shown[0].oldest, context.clock.now()),
    complete: isWhole && shown.length === groups.length,
    groups: shown.map(view),
    agents: countAgents(agents, registered, sight, query),
  };
}

/**
 * How many jobs wait; with `all`, also those that online agents with the labels of the query hold. Throws as
 * {@link readDemand}, and `unavailable` also when presence cannot be read.
 */
export async function countJobs(
  context: DemandContext,
  caller: Caller,
  query: DemandQuery,
  jobs: "waiting" | "all",
): Promise<number> {
  if (jobs === "waiting") return waitingIn((await readGroups(context, caller, query)).groups);
  const { waiting, agents } = await readDemand(context, caller, query);
  if (agents === null) throw unreadable();
  return waiting + agents.busy;
}

function waitingIn(groups: readonly Group[]): number {
  return groups.reduce((sum, { waiting }) => sum + waiting, 0);
}

async function readGroups(context: DemandContext, caller: Caller, query: DemandQuery) {
  const { projectIds } = await projectIdsFor(context, caller, "readRuns");
  const only = query.projectId === undefined ? undefined : asId<ProjectId>(query.projectId);
  if (only !== undefined) await reachProject(context, caller, "readRuns", only);
  const { lanes, isWhole } = await readLanes(context);
  const seen = projectIds && new Set(projectIds);
  const wanted = wantedAgent(query);
  const groups = groupsOf(lanes, ({ projectId, tenantId, selector }) => {
    if (only !== undefined && projectId !== only) return false;
    if (query.tenantId !== undefined && tenantId !== query.tenantId) return false;
    return seen?.has(projectId) !== false && (wanted === undefined || selectorMatches(selector, wanted));
  });
  return { groups, isWhole };
}

async function readLanes({ queue, log }: DemandContext) {
  try {
    if (queue !== undefined) return await queue.waiting();
  } catch (error) {
    log.warn({ error: String(error) }, "the jobs that wait could not be read");
  }
  throw unreadable();
}

function unreadable(): MillraceError {
  return new MillraceError("unavailable", "Redis cannot be reached now: try again");
}

/** The agent that the caller asks about. */
function wantedAgent({ labels, trusted }: DemandQuery): LabelledAgent | undefined {
  if (labels === undefined) return undefined;
  return { labels, ...(trusted && { trusted: trusted.filter((key) => Object.hasOwn(labels, key)) }) };
}

function groupsOf(lanes: Lanes, isWanted: (lane: Lanes[number]["lane"]) => boolean): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { lane, offers, oldest } of lanes) {
    if (!isWanted(lane)) continue;
    const { projectId, selector } = lane;
    const key = JSON.stringify([projectId, selector]);
    const group = groups.get(key) ?? { projectId, selector, waiting: 0, oldest };
    group.waiting += offers;
    group.oldest = Math.min(group.oldest, oldest);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function viewer({ clock }: DemandContext, agents: Agents, registered: readonly Agent[]) {
  const { online } = agents;
  const present = new Set(online?.map(({ agentId }) => agentId));
  const absent = registered.flatMap((agent) =>
    present.has(agent.agentId) || isDrained(agent) ? [] : [{ ...labelledAgent(agent), agentId: agent.agentId }],
  );
  const costOfGroup = (online?.length ?? 0) + absent.length;
  let comparisons = 0;
  return ({ projectId, selector, waiting, oldest }: Group): AgentDemand["groups"][number] => {
    comparisons += costOfGroup;
    const isCompared = online !== null && comparisons <= MAX_COMPARISONS;
    const reached = isCompared ? agentsInReach(projectId, online, agents.tenants) : [];
    const free = matchAgents(selector, reached).matching.filter((agent) => !isBusy(agent));
    const { reason, text } = agentWait(selector, projectId, isCompared ? agents : { online: null, quotas: [] });
    return {
      projectId,
      tenantId: agents.tenants?.get(projectId) ?? null,
      selector: viewSelector(selector),
      clauses: [...describeSelector(selector)],
      waiting,
      oldestAt: rfc3339(oldest),
      oldestAge: elapsed(oldest, clock.now()),
      wait: { reason, text },
      freeSlots: free.reduce((sum, { slots, busy }) => sum + slots - busy, 0),
      online: isCompared ? agentFacts(selector, projectId, agents) : null,
      offline: isCompared ? offlineOf(selector, agentsInReach(projectId, absent, agents.tenants)) : null,
    };
  };
}

function offlineOf(selector: AgentSelector, absent: readonly (LabelledAgent & { readonly agentId: AgentId })[]) {
  const { matching } = matchAgents(selector, absent);
  return { matching: matching.length, agentIds: matching.slice(0, NAMED).map(({ agentId }) => agentId) };
}

function viewSelector({ matchLabels, matchExpressions, trusted, engine, contained }: AgentSelector) {
  return {
    matchLabels: Object.fromEntries(matchLabels),
    matchExpressions: matchExpressions.map(({ key, operator, values }) => ({ key, operator, values: [...values] })),
    trusted: trusted === true,
    containerEngine: engine === true,
    contained: contained === true,
  };
}

function countAgents(
  { online }: Agents,
  registered: readonly Agent[],
  { sees }: AgentSight,
  { labels = {}, trusted = [] }: DemandQuery,
): AgentDemand["agents"] {
  if (online === null) return null;
  const visible = new Set(registered.filter(sees).map(({ agentId }) => agentId));
  const counted = online.filter(({ agentId, labels: own, trusted: given = [] }) => {
    if (agentId === undefined || !visible.has(agentId)) return false;
    return (
      Object.entries(labels).every(([key, value]) => own[key] === value) && trusted.every((key) => given.includes(key))
    );
  });
  return {
    online: counted.length,
    slots: counted.reduce((sum, { slots }) => sum + slots, 0),
    busy: counted.reduce((sum, { busy }) => sum + busy, 0),
  };
}
