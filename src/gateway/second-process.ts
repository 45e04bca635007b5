/**
 * Keeps a second process from an agent's identity while the first is alive: a copy of the agent's data, or a thief
 * of its token. The first is alive while its stream is open and its heartbeats come. So a process that connects again
 * after a broken connection, or after its restart, is held up at most until the old stream counts as silent.
 */
import type { AgentBoot } from "../app/agents/agent-removal.ts";
import { listenToAgent, tellAgent } from "../board/agent-notices.ts";
import type { NewestBeat } from "../board/board.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentId } from "../domain/ids.ts";
import type { SessionContext } from "./gateway-context.ts";

/** How long another gateway has to answer that it hears the agent. A gateway that is gone does not answer. */
const ANSWER_MS = 500;

/** An agent that has been silent for this many heartbeats may have stopped. */
export const SILENT_HEARTBEATS = 2;

/**
 * Whether this sign of life is of a process that runs on, as far as it tells. The broker's clock may differ from this
 * one's; a difference that is too large counts as silence.
 */
export function isFresh({ clock, heartbeatIntervalMs }: SessionContext, { at }: NewestBeat): boolean {
  return Math.abs(clock.now() - at) <= SILENT_HEARTBEATS * heartbeatIntervalMs;
}

/**
 * Whether another process of the agent is alive, for a greeting over the stream `streamId`. The caller has asked the
 * streams of its own gateway. Resolves within {@link ANSWER_MS} and the time of two calls to the broker.
 */
export async function isAnotherAlive(
  context: SessionContext,
  { agentId, bootId }: AgentBoot,
  streamId: string,
): Promise<boolean> {
  const newest = (await context.presence.read([agentId])).get(agentId);
  if (newest === undefined) return false;
  if (newest.pulls === true) return newest.bootId !== bootId && isFresh(context, newest);
  if (newest.gatewayId === context.gatewayId) return false;
  if (await isHeardElsewhere(context, agentId, streamId)) return true;
  // The agent's next process, or a newer stream of this one, may have been greeted during the wait.
  const now = (await context.presence.read([agentId])).get(agentId);
  return now !== undefined && (now.bootId !== newest.bootId || now.gatewayId !== newest.gatewayId);
}

/** Whether a gateway hears the agent over a stream other than `streamId`. Resolves after {@link ANSWER_MS} at the latest. */
async function isHeardElsewhere(context: SessionContext, agentId: AgentId, streamId: string): Promise<boolean> {
  const { timers } = context;
  let answer: (isHeard: boolean) => void = () => {};
  const answered = new Promise<boolean>((resolve) => (answer = resolve));
  const unsubscribe = await listenToAgent(context, agentId, (notice) => {
    if (notice.type === "alive" && notice.to === streamId) answer(true);
  });
  const cancel = timers.after(ANSWER_MS, () => answer(false));
  try {
    await tellAgent(context, agentId, { type: "probe", by: streamId });
    return await answered;
  } finally {
    cancel();
    await unsubscribe();
  }
}

/**
 * Throws `unavailable` when the caller has hung up: its process may have died, and what it said must not overrule an agent that was
 * started since. Asked again after each wait.
 */
export function requireConnected(hungUp: AbortSignal): void {
  if (hungUp.aborted) throw new MillraceError("unavailable", "the agent has hung up before its call was answered");
}

/** The error of a greeting that is refused because another process of the agent is alive. */
export function anotherProcess(agentId: AgentId): MillraceError {
  return new MillraceError(
    "already_exists",
    `another process is connected as agent ${agentId}, and it is alive: connect again after a wait; if it lasts, two processes use one identity, or its token is stolen`,
  );
}
