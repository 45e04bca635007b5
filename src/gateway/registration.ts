/** Registration of agents by token, changes of their facts and labels, and the end of their registration. */
import { z } from "zod";
import { recorded } from "../audit/trail.ts";
import { MillraceError } from "../domain/errors.ts";
import { type AgentId, newId, type TokenId } from "../domain/ids.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../domain/names.ts";
import { labelledAgent, type Labels, overruledLabels, type AgentReach } from "../domain/labels.ts";
import type { Agent, Token } from "../stores/ports/identity.ts";
import { type AgentCaller, authorise, type Caller, type RegistrationCaller } from "../app/identity/access.ts";
import { announceLabels } from "../board/agent-notices.ts";
import type { GatewayPorts } from "./context.ts";
import { requireConnected } from "./second-process.ts";
import { issueToken } from "../app/identity/tokens.ts";
import { problemsOf } from "../app/problems.ts";
import { agentLabels as labels } from "../app/agent-labels.ts";
import { type AgentBoot, endStreams, agentNotRegistered, removeAgent, whereIs } from "../app/agents/agent-removal.ts";

export const MAX_SLOTS = 1_000;

/** Facts that an agent reports about itself, at registration and with each hello. */
export const agentFacts = z.object({
  labels,
  slots: z.number().int().min(1).max(MAX_SLOTS),
  version: z.string().max(128).regex(PLAIN_TEXT, PLAIN_TEXT_RULE),
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
 * replaced and its earlier tokens are revoked. Labels of the registration token become trusted labels of the agent.
 * Each call takes one use of the caller's registration token, even when the answer is lost; throws `unauthenticated`
 * when the token has no use left, and `forbidden` for the name of an agent with a trusted label that the token does not
 * give, or of an agent that does not belong to the token's tenant. The reach of the token becomes that of the agent.
 */
export async function registerAgent(
  context: GatewayPorts,
  caller: Caller,
  registration: AgentRegistration,
): Promise<RegisteredAgent> {
  authorise(caller, "registerAgent");
  const { identity } = context.stores;
  const { proof } = caller as RegistrationCaller;
  const { given, by, reach } = await grantOf(context, proof);
  const known = await identity.findAgentByName(registration.name);
  refuseTakeover(registration.name, known?.trustedLabels ?? {}, given);
  refuseForeignName(registration.name, known, reach);
  if ("tokenId" in proof) await takeUse(context, proof.tokenId);
  const agentId = known?.agentId ?? newId("agt");
  const revoked = await identity.listTokens("agent", agentId);
  // A known agent gets its reach before it says anything new, and a new one with what it says: no agent is ever wider.
  if (known !== undefined) await identity.changeAgent(agentId, { reach });
  const { name } = registration;
  const after = { name, labels: registration.labels };
  await recorded(caller, { kind: "agent", id: agentId, name, ...whereIs({ reach }), after }, () =>
    identity.putAgent({ ...registration, agentId, reach, createdAt: known?.createdAt ?? context.clock.now() }),
  );
  if (Object.keys(given).length > 0) {
    const labelledBy = { kind: "registrationToken", name: by, at: context.clock.now() } as const;
    await identity.changeAgent(agentId, { trustedLabels: given, labelledBy });
  }
  const agentToken = await issueToken(context, { kind: "agent", subject: agentId, name: registration.name });
  for (const { tokenId } of revoked) await identity.deleteToken(tokenId);
  if (revoked.length > 0) await endStreams(context, agentId);
  return { agentId, agentToken };
}

/** What the proof of a registration gives to the agent; `by` is the name of the token or of the trusted issuer. */
async function grantOf(
  { stores }: GatewayPorts,
  proof: RegistrationCaller["proof"],
): Promise<{ readonly given: Labels; readonly by: string; readonly reach: AgentReach | null }> {
  if ("workload" in proof) {
    const { labels: given, id: by, reach = null } = proof.workload;
    return { given, by, reach };
  }
  const token: Partial<Token> = (await stores.identity.findToken(proof.tokenId)) ?? {};
  return { given: Object.fromEntries(token.labels ?? []), by: token.name ?? "", reach: token.reach ?? null };
}

/**
 * Stores what a registered agent says when it greets: its facts, and which process it is. Answers the agent. Throws
 * `not_found` for an agent that has been removed, and `unavailable` when the caller has hung up.
 */
export async function refreshAgent(
  context: GatewayPorts,
  { agentId, bootId }: AgentBoot,
  facts: AgentFacts,
  hungUp: AbortSignal,
): Promise<Agent> {
  const { identity } = context.stores;
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw agentNotRegistered(agentId);
  requireConnected(hungUp);
  const refreshed = { ...agent, ...facts, bootId };
  if (JSON.stringify(refreshed) !== JSON.stringify(agent)) {
    await identity.putAgent(refreshed);
    warnOfOverruled(context, refreshed);
  }
  return refreshed;
}

/** Once for each change of what the agent says, since a step with the agent's token may say it, too. */
function warnOfOverruled({ log }: GatewayPorts, agent: Agent): void {
  const overruled = overruledLabels(agent);
  if (Object.keys(overruled).length === 0) return;
  const { agentId, name, trustedLabels } = agent;
  log.warn(
    { agentId, name, overruled, trustedLabels },
    "an agent tells other values for labels that an operator has given it: the operator's values count",
  );
}

/** A registration token must not make its bearer an agent that an operator has trusted with more than the token says. */
function refuseTakeover(name: string, trusted: Labels, given: Labels): void {
  const missing = Object.entries(trusted).filter(([key, value]) => given[key] !== value);
  if (missing.length === 0) return;
  const labels = missing.map(([key, value]) => `${key}=${value}`).join(", ");
  throw new MillraceError(
    "forbidden",
    `the agent ${name} has trusted labels that this registration token does not give (${labels}): register with a token that gives them, or have an administrator take them away first`,
  );
}

/**
 * A token of a tenant must not take over an agent of another tenant or of the installation. The refusal does not tell
 * whose the agent is.
 */
function refuseForeignName(name: string, known: Agent | undefined, reach: AgentReach | null): void {
  if (known === undefined || reach === null || known.reach?.tenantId === reach.tenantId) return;
  throw new MillraceError(
    "forbidden",
    `the name ${name} is taken by an agent that this registration token may not replace: choose another name`,
  );
}

/** Removes the calling agent and its tokens. Its live jobs count as lost. A call that failed is safe to repeat. */
export function unregisterAgent(context: GatewayPorts, caller: Caller): Promise<void> {
  return removeAgent(context, callingAgent(caller), caller);
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
 * Changes the labels that the calling agent tells, and answers all of its labels; `replace` drops the told labels that
 * are not named. Trusted labels stay. The gateway that serves the agent is notified and claims with the new labels. Throws `malformed_request` for more labels
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
  const relabelled = { ...agent, labels: changed.data.labels };
  const sides = { before: { labels: agent.labels }, after: { labels: relabelled.labels } };
  await recorded(caller, { kind: "agent", id: agentId, name: agent.name, ...whereIs(agent), ...sides }, () =>
    identity.putAgent(relabelled),
  );
  warnOfOverruled(context, relabelled);
  const labelled = labelledAgent(relabelled);
  await announceLabels(context, agentId, labelled);
  return labelled.labels;
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
