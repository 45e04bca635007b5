/** Heartbeats of agents that pull: such an agent has no session, so each heartbeat is handled by itself. */
import type { AgentNotice } from "../board/agent-notices.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentId } from "../domain/ids.ts";
import { agentNotRegistered } from "../app/agents/agent-removal.ts";
import type { Heartbeat } from "./agent-session.ts";
import { type SessionContext, waitsOf } from "./gateway-context.ts";
import { labelledAgent } from "../domain/labels.ts";
import { isDrained } from "../stores/ports/identity.ts";
import { reconcile, startedAgain } from "./reconciliation.ts";
import { refreshAgent } from "./registration.ts";
import { isFresh, requireConnected } from "./second-process.ts";

/**
 * Records the presence of the agent and answers the notices that it has missed. Throws `not_found` for an agent that is
 * not registered, `conflict` for a boot that a newer one has replaced, and `unavailable` for a new boot while the one
 * before it is alive. Rejects when presence or the store cannot be reached, and when the caller has hung up: its process
 * may have died, and an agent that was started since must not lose its jobs to a heartbeat that took long.
 */
export async function recordHeartbeat(
  context: SessionContext,
  agentId: AgentId,
  { bootId, sequence, holdings }: Heartbeat,
  hungUp: AbortSignal,
): Promise<readonly AgentNotice[]> {
  const boot = { agentId, bootId };
  const [agent, present] = await Promise.all([
    context.stores.identity.findAgent(agentId),
    context.presence.read([agentId]),
  ]);
  if (agent === undefined) throw agentNotRegistered(agentId);
  requireConnected(hungUp);
  const shown = present.get(agentId);
  const newest = shown?.bootId ?? agent.bootId ?? bootId;
  if (newest !== bootId) {
    // A delayed heartbeat of an earlier process must not take the jobs of the newer process away.
    if (sequence > 1n) throw startedAgain();
    if (shown !== undefined && isFresh(context, shown)) throw stillAlive(agentId);
  }
  const { labels, slots, version } = agent;
  if (agent.bootId !== bootId) await refreshAgent(context, boot, { labels, slots, version }, hungUp);
  requireConnected(hungUp);
  await context.presence.beat({
    ...boot,
    gatewayId: context.gatewayId,
    ...labelledAgent(agent),
    slots,
    busy: holdings.jobIds.length,
    pulls: true,
    ...(isDrained(agent) ? { draining: true, drained: true } : {}),
    takesNoJobs: holdings.takesNoJobs,
    ...waitsOf(context, agentId),
  });
  const { notices } = await reconcile(context, context.builder, boot, holdings, hungUp);
  return notices;
}

function stillAlive(agentId: AgentId): MillraceError {
  return new MillraceError(
    "unavailable",
    `another process of agent ${agentId} is alive: try again after a wait; if it lasts, two processes use one identity`,
  );
}
