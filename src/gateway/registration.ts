/** Agents come and go: registration by token, and the end of an agent with everything that it holds. */
import { z } from "zod";
import type { JobState } from "../../actors/job/state.ts";
import { MillraceError } from "../domain/errors.ts";
import { type AgentId, newId, type TokenId } from "../domain/ids.ts";
import type { Labels } from "../domain/labels.ts";
import { type AgentCaller, authorise, authoriseUser, type Caller, type RegistrationCaller } from "../app/identity/access.ts";
import { sendAgentLost } from "./actor-messages.ts";
import { supersedeStreams, tellAgent } from "../board/agent-notices.ts";
import type { AppContext } from "../app/context.ts";
import { issueToken } from "../app/identity/tokens.ts";

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
  context: AppContext,
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
export async function refreshAgent(context: AppContext, agentId: AgentId, facts: AgentFacts): Promise<void> {
  const { identity } = context.stores;
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw noAgent(agentId);
  const refreshed = { ...agent, ...facts };
  if (JSON.stringify(refreshed) !== JSON.stringify(agent)) await identity.putAgent(refreshed);
}

/** Removes the calling agent and its tokens. Its live jobs count as lost. Safe to repeat until it has succeeded. */
export function unregisterAgent(context: AppContext, caller: Caller): Promise<void> {
  return removeAgent(context, callingAgent(caller));
}

/** The same, as an administrator asks for it. Throws `not_found` for an agent that is none. */
export async function deleteAgent(
  context: AppContext,
  caller: Caller,
  { agentId }: { readonly agentId: AgentId },
): Promise<void> {
  authoriseUser(caller, "manageAgents");
  if ((await context.stores.identity.findAgent(agentId)) === undefined) throw unknownAgent(agentId);
  await removeAgent(context, agentId);
}

/**
 * Takes the agent's token back and ends its streams at once; what it runs ends when its lease runs out. The agent stays
 * known: with a registration token it can register again. Throws `not_found` for an agent that is none. Safe to repeat.
 */
export async function revokeAgentToken(
  context: AppContext,
  caller: Caller,
  { agentId }: { readonly agentId: AgentId },
): Promise<void> {
  authoriseUser(caller, "manageAgents");
  const { identity } = context.stores;
  if ((await identity.findAgent(agentId)) === undefined) throw unknownAgent(agentId);
  for (const { tokenId } of await identity.listTokens("agent", agentId)) await identity.deleteToken(tokenId);
  await endStreams(context, agentId);
}

async function removeAgent(context: AppContext, agentId: AgentId): Promise<void> {
  for (const { runId, jobId, actor } of await context.stores.aggregates.jobsHeldBy(agentId)) {
    const { grant } = actor.state as JobState;
    await sendAgentLost(context, { runId, jobId }, grant!, "agent_unregistered");
  }
  const record = (await context.presence.read([agentId])).get(agentId);
  if (record !== undefined) await context.presence.leave(agentId, record.bootId);
  // Last: as long as the token is good, an agent that got no answer can repeat the call.
  await context.stores.identity.deleteAgent(agentId);
  await endStreams(context, agentId);
}

async function useToken(context: AppContext, tokenId: TokenId): Promise<void> {
  const { identity } = context.stores;
  const token = await identity.findToken(tokenId);
  if (token !== undefined && (await identity.countUse(token))) return;
  throw new MillraceError(
    "unauthenticated",
    "the registration token is revoked, or has registered as many agents as it may: ask an administrator for a new one",
  );
}

/** A stream was opened with a token that is revoked now. */
async function endStreams(context: AppContext, agentId: AgentId): Promise<void> {
  try {
    await supersedeStreams(context, agentId, "");
  } catch (error) {
    context.log.warn(
      { agentId, error: String(error) },
      "streams of an agent could not be told that its token is revoked",
    );
  }
}

/**
 * Changes the calling agent's labels and answers all that it has then; `replace` drops those that are not named. Whoever
 * matches for the agent is told. `malformed_request` for more labels than an agent may have. Safe to repeat.
 */
export async function updateLabels(
  context: AppContext,
  caller: Caller,
  { labels: changes, replace }: z.output<typeof labelChange>,
): Promise<Labels> {
  const agentId = callingAgent(caller);
  const { identity } = context.stores;
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) throw noAgent(agentId);
  const changed = labels.safeParse(replace ? changes : { ...agent.labels, ...changes });
  if (!changed.success) throw new MillraceError("malformed_request", `labels: ${changed.error.issues[0]!.message}`);
  await identity.putAgent({ ...agent, labels: changed.data });
  await tellAgent(context, agentId, { type: "labels", labels: changed.data });
  return changed.data;
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

function unknownAgent(agentId: AgentId): MillraceError {
  return new MillraceError("not_found", `there is no agent ${JSON.stringify(agentId)}`);
}

export function noAgent(agentId: AgentId): MillraceError {
  return new MillraceError("not_found", `there is no agent ${agentId}: register it again`);
}
