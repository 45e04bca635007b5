/** Removes agents: declares their jobs lost, revokes their tokens and closes their streams. */
import { recorded, type Trail } from "../../audit/trail.ts";
import type { AgentLost } from "../../../actors/job/messages.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { supersedeStreams } from "../../board/agent-notices.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId, JobRunId, RunId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import type { Agent } from "../../stores/ports/identity.ts";
import type { WithStores } from "../context.ts";
import type { AgentsContext } from "./context.ts";
import { manageAgent } from "./reaching-agents.ts";
import type { Caller } from "../identity/access.ts";

/** What the removal of an agent uses. */
type RemovalContext = Pick<AgentsContext, "feed" | "mailboxes" | "presence" | "log"> &
  WithStores<"aggregates" | "identity">;

/** One start of an agent's process. */
export interface AgentBoot {
  readonly agentId: AgentId;
  readonly bootId: string;
}

/** {@link removeAgent} for administrators. Throws `not_found` for an unknown agent. */
export async function deleteAgent(
  context: AgentsContext,
  caller: Caller,
  { agentId }: { readonly agentId: AgentId },
): Promise<void> {
  await manageAgent(context, caller, agentId);
  await removeAgent(context, agentId, caller);
}

/**
 * Revokes the agent's tokens and ends its streams at once; the steps that it runs end when their leases expire. The
 * agent stays known: with a registration token it can register again. Throws `not_found` for an unknown agent. Safe to
 * repeat.
 */
export async function revokeAgentToken(
  context: AgentsContext,
  caller: Caller,
  { agentId }: { readonly agentId: AgentId },
): Promise<void> {
  await manageAgent(context, caller, agentId);
  const { identity } = context.stores;
  const tokens = await identity.listTokens("agent", agentId);
  await recorded(caller, { kind: "agent", id: agentId }, async () => {
    for (const { tokenId } of tokens) await identity.deleteToken(tokenId);
  });
  await endStreams(context, agentId);
}

/** Removes an agent and its tokens. Its live jobs count as lost. A call that failed is safe to repeat. */
export async function removeAgent(
  context: RemovalContext,
  agentId: AgentId,
  remover: { readonly trail?: Trail | undefined },
): Promise<void> {
  for (const { runId, jobId, actor } of await context.stores.aggregates.jobsHeldBy(agentId)) {
    const { grant } = actor.state as JobState;
    await sendAgentLost(context, { runId, jobId }, grant!, "agent_unregistered");
  }
  const record = (await context.presence.read([agentId])).get(agentId);
  if (record !== undefined) await context.presence.leave(agentId, record.bootId);
  // Last: an agent that got no answer can repeat the call as long as its token is valid.
  const { identity } = context.stores;
  const agent = await identity.findAgent(agentId);
  const change = agent && { ...whereIs(agent), name: agent.name, before: { name: agent.name, labels: agent.labels } };
  await recorded(remover, { kind: "agent", id: agentId, ...change }, () => identity.deleteAgent(agentId));
  await endStreams(context, agentId);
}

/** Where the audit log says that the agent is. */
export function whereIs({ reach = null }: Pick<Agent, "reach">): { readonly area: Area | null } {
  return { area: reach && { tenantId: reach.tenantId } };
}

/**
 * Tells a job that this boot of its agent holds nothing any more. The job ignores the message when another boot has it.
 */
export async function sendAgentLost(
  context: Pick<AgentsContext, "mailboxes">,
  job: { readonly runId: RunId; readonly jobId: JobRunId },
  { agentId, bootId }: AgentBoot,
  reason: string,
): Promise<void> {
  const message: AgentLost = { type: "agentLost", agentId, bootId, reason };
  await context.mailboxes.send({ rootId: job.runId, to: { kind: "job", id: job.jobId }, message });
}

/**
 * Closes the streams of an agent whose tokens are revoked. A failure is only logged: each stream checks its token
 * regularly.
 */
export async function endStreams(context: Pick<AgentsContext, "feed" | "log">, agentId: AgentId): Promise<void> {
  try {
    await supersedeStreams(context, agentId, "");
  } catch (error) {
    context.log.warn(
      { agentId, error: String(error) },
      "streams of an agent could not be closed after its token was revoked; each closes when it next checks its token",
    );
  }
}

export function agentNotRegistered(agentId: AgentId): MillraceError {
  return new MillraceError("not_found", `there is no agent ${agentId}: register it again`);
}
