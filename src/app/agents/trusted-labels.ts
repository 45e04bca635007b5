/** Trusted labels: those that administrators give to agents, which the agents themselves cannot change. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { announceLabels } from "../../board/agent-notices.ts";
import type { AgentId } from "../../domain/ids.ts";
import { labelledAgent } from "../../domain/labels.ts";
import type { Caller } from "../identity/access.ts";
import { agentLabels } from "../agent-labels.ts";
import type { AgentsContext } from "./context.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { type AgentView, viewAgent } from "./inventory.ts";
import { manageAgent, unknownAgent } from "./reaching-agents.ts";

export const trustedLabelsBody = z.strictObject({ labels: agentLabels });

/**
 * Replaces the trusted labels of an agent. They count from the next match on; jobs that the agent holds go on. Throws
 * `not_found`. Safe to repeat.
 */
export async function setTrustedLabels(
  context: AgentsContext,
  caller: Caller,
  input: z.output<typeof trustedLabelsBody> & { readonly agentId: AgentId } & WithPrecondition<AgentView>,
): Promise<AgentView> {
  return changeUnmoved(() => tryToSet(context, caller, input));
}

async function tryToSet(
  context: AgentsContext,
  caller: Caller,
  { agentId, labels, match }: Parameters<typeof setTrustedLabels>[2],
): Promise<AgentView | typeof MOVED> {
  const { user } = await manageAgent(context, caller, agentId);
  const { identity } = context.stores;
  const labelledBy = { kind: "user", name: user.name, at: context.clock.now() } as const;
  const known = await identity.findAgent(agentId);
  const sides = { before: { labels: known?.trustedLabels ?? {} }, after: { labels } };
  const change = { kind: "agent", id: agentId, ...(known && { name: known.name }), ...sides } as const;
  if (known !== undefined) match?.(await viewAgent(context, known));
  const expected = match && { trustedLabels: known?.trustedLabels, reach: known?.reach };
  const isSet = await recorded(user, change, () =>
    identity.changeAgent(agentId, { trustedLabels: labels, labelledBy }, expected),
  );
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw unknownAgent(agentId);
  if (!isSet) return MOVED;
  context.log.info({ agentId, labels, by: user.name, userId: user.userId }, "the trusted labels of an agent were set");
  await announceLabels(context, agentId, labelledAgent(agent)).catch((error: unknown) =>
    context.log.warn(
      { agentId, error: String(error) },
      "the gateway of an agent learns its trusted labels within 30 s",
    ),
  );
  return viewAgent(context, agent);
}
