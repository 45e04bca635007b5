/** Agents come and go: registration by token, and the end of an agent with everything that it holds. */
import { z } from "zod";
import { MillraceError } from "../domain/errors.ts";
import { type AgentId, newId, type TokenId } from "../domain/ids.ts";
import type { Labels } from "../domain/labels.ts";
import { type AgentCaller, authorise, type Caller, type RegistrationCaller } from "../app/identity/access.ts";
import { tellAgent } from "../board/agent-notices.ts";
import type { GatewayPorts } from "./context.ts";
import { issueToken } from "../app/identity/tokens.ts";
import { problemsOf } from "../app/problems.ts";
import { endStreams, agentNotRegistered, removeAgent } from "../app/agents/agent-removal.ts";

const MAX_LABELS = 64;
export const MAX_SLOTS = 1_000;

const labels = z
  .record(z.string().min(1).max(128), z.string().max(256))
  .refine((record) => Object.keys(record).length <= MAX_LABELS, `must be at most ${MAX_LABELS}`);

/** What an agent says of itself, at registration and with each hello. */
export const agentFacts = z.object({
  labels,
  slots: z.number().int().min(1).max(MAX_SLOTS),
  version: z.string().max(128),
});

export const agentRegistration = agentFacts.extend({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must have 1 to 128 letters, digits, ., _ or -"),
});

export const labelChange = z.object({ labels, replace: z.boolean() });

export type AgentFacts = { readonly labels: Labels; readonly slots: number; readonly version: string };
export type AgentRegistration = AgentFacts & { readonly name: string };

export interface RegisteredAgent {
  readonly agentId: AgentId;
  /** The only time that anybody sees it. */
  readonly agentToken: string;
}

/**
 * Makes an agent known and gives it a token. A name that is known keeps its id; its labels and slots are replaced, and
 * the tokens that it had are revoked. Uses up one use of the caller's token, also when the answer is lost; throws
 * `unauthenticated` when it has none left.
 */
export async function registerAgent(
  context: GatewayPorts,
  caller: Caller,
  registration: AgentRegistration,
): Promise<RegisteredAgent> {
  authorise(caller, "registerAgent");
  const { identity } = context.stores;
  await useToken(context, (caller as RegistrationCaller).tokenId);
  const known = await identity.findAgentByName(registration.name);
  const agentId = known?.agentId ?? newId("agt");
  const revoked = await identity.listTokens("agent", agentId);
  await identity.putAgent({ ...registration, agentId, createdAt: known?.createdAt ?? context.clock.now() });
  const agentToken = await issueToken(context, { kind: "agent", subject: agentId, name: registration.name });
  for (const { tokenId } of revoked) await identity.deleteToken(tokenId);
  if (revoked.length > 0) await endStreams(context, agentId);
  return { agentId, agentToken };
}

/** Takes over what a known agent says of itself now. `not_found` when it has been removed meanwhile. */
export async function refreshAgent(context: GatewayPorts, agentId: AgentId, facts: AgentFacts): Promise<void> {
  const { identity } = context.stores;
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw agentNotRegistered(agentId);
  const refreshed = { ...agent, ...facts };
  if (JSON.stringify(refreshed) !== JSON.stringify(agent)) await identity.putAgent(refreshed);
}

/** Removes the calling agent and its tokens. Its live jobs count as lost. Safe to repeat until it has succeeded. */
export function unregisterAgent(context: GatewayPorts, caller: Caller): Promise<void> {
  return removeAgent(context, callingAgent(caller));
}

async function useToken(context: GatewayPorts, tokenId: TokenId): Promise<void> {
  const { identity } = context.stores;
  const token = await identity.findToken(tokenId);
  if (token !== undefined && (await identity.countUse(token))) return;
  throw new MillraceError(
    "unauthenticated",
    "the registration token is revoked, or has registered as many agents as it may: ask an administrator for a new one",
  );
}

/**
 * Changes the calling agent's labels and answers all that it has then; `replace` drops those that are not named. Whoever
 * matches for the agent is told. `malformed_request` for more labels than an agent may have. Safe to repeat.
 */
export async function updateLabels(
  context: GatewayPorts,
  caller: Caller,
  { labels: changes, replace }: z.output<typeof labelChange>,
): Promise<Labels> {
  const agentId = callingAgent(caller);
  const { identity } = context.stores;
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw agentNotRegistered(agentId);
  const changed = labelChange
    .pick({ labels: true })
    .safeParse({ labels: replace ? changes : { ...agent.labels, ...changes } });
  if (!changed.success) {
    const problems = problemsOf(changed.error);
    throw new MillraceError("malformed_request", `labels: ${problems[0]!.message}`, { problems });
  }
  await identity.putAgent({ ...agent, labels: changed.data.labels });
  await tellAgent(context, agentId, { type: "labels", labels: changed.data.labels });
  return changed.data.labels;
}

/** The agent that calls; `forbidden` when the caller is none. */
export function callingAgent(caller: Caller): AgentId {
  return agentCaller(caller).agentId;
}

/** {@link callingAgent} with the token that it calls with. */
export function agentCaller(caller: Caller): AgentCaller {
  authorise(caller, "workAsAgent");
  return caller as AgentCaller;
}
