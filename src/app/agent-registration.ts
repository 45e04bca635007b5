/** Agents come and go: registration by token, and the end of an agent with everything that it holds. */
import { z } from "zod";
import type { JobState } from "../../actors/job/state.ts";
import { MillraceError } from "../domain/errors.ts";
import { type AgentId, newId } from "../domain/ids.ts";
import type { Labels } from "../domain/labels.ts";
import { authorise, type Caller } from "./access.ts";
import { sendAgentLost } from "./agent-letters.ts";
import { supersedeStreams } from "./agent-notices.ts";
import type { AppContext } from "./context.ts";
import { issueToken } from "./tokens.ts";

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

export type AgentFacts = { readonly labels: Labels; readonly slots: number; readonly version: string };
export type AgentRegistration = AgentFacts & { readonly name: string };

export interface RegisteredAgent {
  readonly agentId: AgentId;
  /** The only time that anybody sees it. */
  readonly agentToken: string;
}

/**
 * Makes an agent known and gives it a token. A name that is known keeps its id; its labels and slots are replaced, and
 * the tokens that it had are revoked.
 */
export async function registerAgent(
  context: AppContext,
  caller: Caller,
  registration: AgentRegistration,
): Promise<RegisteredAgent> {
  authorise(caller, "registerAgent");
  const { identity } = context.stores;
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
export async function unregisterAgent(context: AppContext, caller: Caller): Promise<void> {
  const agentId = callingAgent(caller);
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

/** The agent that calls; `forbidden` when the caller is none. */
export function callingAgent(caller: Caller): AgentId {
  authorise(caller, "workAsAgent");
  return (caller as Caller & { kind: "agent" }).agentId;
}

export function noAgent(agentId: AgentId): MillraceError {
  return new MillraceError("not_found", `there is no agent ${agentId}: register it again`);
}
