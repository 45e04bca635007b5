/** The reach of a registered agent: which jobs it may get from the next match on. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { announceLabels } from "../../board/agent-notices.ts";
import type { AgentId } from "../../domain/ids.ts";
import { labelledAgent } from "../../domain/labels.ts";
import type { Caller } from "../identity/access.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import type { AgentsContext } from "./context.ts";
import { type AgentView, viewAgent } from "./inventory.ts";
import { givenReach, manageAgent, reachBody, unknownAgent } from "./reaching-agents.ts";

export const setReachBody = z.strictObject({
  /** Null for an agent of the installation, which gets jobs of every project. */
  reach: reachBody.nullable(),
});

/**
 * Replaces the reach of an agent, for callers who manage agents where it was and where it is to be. It counts from the next
 * match on, and the agent's free slots are offered again under it; jobs that the agent holds go on. Throws `not_found`, and
 * `malformed_request` for what the caller may not see. Safe to repeat.
 */
export async function setReach(
  context: AgentsContext,
  caller: Caller,
  input: z.output<typeof setReachBody> & { readonly agentId: AgentId } & WithPrecondition<AgentView>,
): Promise<AgentView> {
  return changeUnmoved(() => tryToSet(context, caller, input));
}

async function tryToSet(
  context: AgentsContext,
  caller: Caller,
  { agentId, reach: given, match }: Parameters<typeof setReach>[2],
): Promise<AgentView | typeof MOVED> {
  const { user, found: known } = await manageAgent(context, caller, agentId);
  const { reach = null } = await givenReach(context, caller, given ?? undefined);
  const { identity } = context.stores;
  match?.(await viewAgent(context, known));
  const before = known.reach ?? null;
  const change = { kind: "agent", id: agentId, name: known.name, before: { reach: before }, after: { reach } } as const;
  const expected = match && { trustedLabels: known.trustedLabels, reach: known.reach };
  const isSet = await recorded(user, change, () => identity.changeAgent(agentId, { reach }, expected));
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw unknownAgent(agentId);
  if (!isSet) return MOVED;
  context.log.info({ agentId, reach, by: user.name, userId: user.userId }, "the reach of an agent was set");
  await announceLabels(context, agentId, labelledAgent(agent)).catch((error: unknown) =>
    context.log.warn({ agentId, error: String(error) }, "the gateway of an agent learns its reach within 30 s"),
  );
  return viewAgent(context, agent);
}
