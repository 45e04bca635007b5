/** Draining: an agent that an operator has drained takes no new job and finishes what it holds. */
import { z } from "zod";
import { tellAgent } from "../../board/agent-notices.ts";
import type { AgentId } from "../../domain/ids.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../../domain/names.ts";
import { recorded } from "../../audit/trail.ts";
import type { Agent, Drain } from "../../stores/ports/identity.ts";
import type { ActingUser, Caller } from "../identity/access.ts";
import type { AgentsContext } from "./context.ts";
import { type AgentView, viewAgent } from "./inventory.ts";
import { manageAgent, unknownAgent } from "./reaching-agents.ts";

export const drainBody = z.strictObject({
  /** For people. */
  reason: z.string().max(1_000).regex(PLAIN_TEXT, PLAIN_TEXT_RULE).default(""),
});

interface DrainInput {
  readonly agentId: AgentId;
}

/**
 * Lets the agent take no new job, also after restarts of agent and control plane, until {@link undrainAgent}. Its gateway
 * learns it at once, or within 30 s when a message is lost. Throws `not_found`. Safe to repeat: the first drain stays.
 */
export async function drainAgent(
  context: AgentsContext,
  caller: Caller,
  { agentId, reason }: DrainInput & z.output<typeof drainBody>,
): Promise<AgentView> {
  const { user, found } = await manageAgent(context, caller, agentId);
  return change(context, user, found, found.drain ?? { by: user.name, at: context.clock.now(), reason });
}

/** Lets the agent take jobs again. Throws `not_found`. Safe to repeat. */
export async function undrainAgent(
  context: AgentsContext,
  caller: Caller,
  { agentId }: DrainInput,
): Promise<AgentView> {
  const { user, found } = await manageAgent(context, caller, agentId);
  return change(context, user, found, null);
}

async function change(
  context: AgentsContext,
  user: ActingUser,
  { agentId, name, drain: before = null }: Agent,
  drain: Drain | null,
): Promise<AgentView> {
  const { identity } = context.stores;
  if ((before === null) === (drain === null)) user.trail?.changedNothing();
  const sides = { before: drainRecord(before), after: drainRecord(drain) };
  const isKnown = await recorded(user, { kind: "agent", id: agentId, name, ...sides }, () =>
    identity.changeAgent(agentId, { drain }),
  );
  const agent = isKnown ? await identity.findAgent(agentId) : undefined;
  if (agent === undefined) throw unknownAgent(agentId);
  const isDrained = drain !== null;
  context.log.info({ agentId, isDrained, by: user.name }, "whether an agent is drained was set");
  await tellAgent(context, agentId, { type: "drain", isDrained }).catch((error: unknown) =>
    context.log.warn({ agentId, error: String(error) }, "the gateway of an agent learns of its drain within 30 s"),
  );
  return viewAgent(context, agent);
}

function drainRecord(drain: Drain | null): { readonly drained: boolean; readonly reason: string | null } {
  return { drained: drain !== null, reason: drain?.reason ?? null };
}
