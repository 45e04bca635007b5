/** Registration of agents by token, changes of their facts and labels, and the end of their registration. */
import { z } from "zod";
import { MillraceError } from "../domain/errors.ts";
import { type AgentId, newId, type TokenId } from "../domain/ids.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../domain/names.ts";
import type { Labels } from "../domain/labels.ts";
import { type AgentCaller, authorise, type Caller, type RegistrationCaller } from "../app/identity/access.ts";
import { tellAgent } from "../board/agent-notices.ts";
import type { GatewayPorts } from "./context.ts";
import { issueToken } from "../app/identity/tokens.ts";
import { problemsOf } from "../app/problems.ts";
import { type AgentBoot, endStreams, agentNotRegistered, removeAgent } from "../app/agents/agent-removal.ts";

const MAX_LABELS = 64;
export const MAX_SLOTS = 1_000;

const plainText = (maxChars: number) => z.string().max(maxChars).regex(PLAIN_TEXT, PLAIN_TEXT_RULE);
const labels = z
  .record(plainText(128).min(1), plainText(256))
  .refine((record) => Object.keys(record).length <= MAX_LABELS, `must be at most ${MAX_LABELS}`);

/** Facts that an agent reports about itself, at registration and with each hello. */
export const agentFacts = z.object({
  labels,
  slots: z.number().int().min(1).max(MAX_SLOTS),
  version: plainText(128),
});

export const agentRegistration = agentFacts.extend({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must have 1 to 128 letters, digits, ., _ or -"),
});

export const labelChange = z.object({ labels, replace: z.boolean() });

export type AgentFacts = { readonly labels: Labels; readonly slots: number; readonly version: string };
export type AgentRegistration = AgentFacts & { readonly name: string };

export interface RegisteredAgent {
  readonly agentId: AgentId;
  /** Cannot be read again later. */
  readonly agentToken: string;
}

/**
 * Registers an agent and makes a token for it. An agent whose name is registered keeps its id; its labels and slots are
 * replaced and its earlier tokens are revoked. Each call takes one use of the caller's registration token, even when
 * the answer is lost; throws `unauthenticated` when the token has no use left.
 */
export async function registerAgent(
  context: GatewayPorts,
  caller: Caller,
  registration: AgentRegistration,
): Promise<RegisteredAgent> {
  authorise(caller, "registerAgent");
  const { identity } = context.stores;
  await takeUse(context, (caller as RegistrationCaller).tokenId);
  const known = await identity.findAgentByName(registration.name);
  const agentId = known?.agentId ?? newId("agt");
  const revoked = await identity.listTokens("agent", agentId);
  await identity.putAgent({ ...registration, agentId, createdAt: known?.createdAt ?? context.clock.now() });
  const agentToken = await issueToken(context, { kind: "agent", subject: agentId, name: registration.name });
  for (const { tokenId } of revoked) await identity.deleteToken(tokenId);
  if (revoked.length > 0) await endStreams(context, agentId);
  return { agentId, agentToken };
}

/**
 * Stores what a registered agent says when it greets: its facts, and which process it is. Throws `not_found` for an agent
 * that has been removed.
 */
export async function refreshAgent(
  context: GatewayPorts,
  { agentId, bootId }: AgentBoot,
  facts: AgentFacts,
): Promise<void> {
  const { identity } = context.stores;
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw agentNotRegistered(agentId);
  const refreshed = { ...agent, ...facts, bootId };
  if (JSON.stringify(refreshed) !== JSON.stringify(agent)) await identity.putAgent(refreshed);
}

/** Removes the calling agent and its tokens. Its live jobs count as lost. A call that failed is safe to repeat. */
export function unregisterAgent(context: GatewayPorts, caller: Caller): Promise<void> {
  return removeAgent(context, callingAgent(caller));
}

async function takeUse(context: GatewayPorts, tokenId: TokenId): Promise<void> {
  const { identity } = context.stores;
  const token = await identity.findToken(tokenId);
  if (token !== undefined && (await identity.countUse(token))) return;
  throw new MillraceError(
    "unauthenticated",
    "the registration token is revoked, or has registered as many agents as it may: ask an administrator for a new one",
  );
}

/**
 * Changes the calling agent's labels and answers all of its labels; `replace` drops the labels that are not named. The
 * gateway that serves the agent is notified and claims with the new labels. Throws `malformed_request` for more labels
 * than an agent may have. Safe to repeat.
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
    const found = problemsOf(changed.error);
    throw new MillraceError("malformed_request", `labels: ${found.problems[0]!.message}`, found);
  }
  await identity.putAgent({ ...agent, labels: changed.data.labels });
  await tellAgent(context, agentId, { type: "labels", labels: changed.data.labels });
  return changed.data.labels;
}

/** The error of an agent whose token was revoked while the agent was calling. */
export function tokenRevoked(): MillraceError {
  return new MillraceError("unauthenticated", "the agent's token is revoked: register it again");
}

/** The id of the calling agent. Throws `forbidden` when the caller is no agent. */
export function callingAgent(caller: Caller): AgentId {
  return agentCaller(caller).agentId;
}

/** The calling agent with its token. Throws `forbidden` when the caller is no agent. */
export function agentCaller(caller: Caller): AgentCaller {
  authorise(caller, "workAsAgent");
  return caller as AgentCaller;
}
