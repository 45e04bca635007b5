/** Agents as programs follow them: first the known agents, then each change. */
import { LONGEST_TIMER_MS } from "../../domain/clock.ts";
import type { AgentId } from "../../domain/ids.ts";
import type { Caller } from "../identity/access.ts";
import { agentSight } from "../agents/reaching-agents.ts";
import type { RightsContext } from "../reaching.ts";
import type { AgentPresenceFeed, AgentChange } from "./agent-presence-feed.ts";
import { Signal } from "../signal.ts";
import { agentNotRegistered } from "../agents/agent-removal.ts";

/**
 * `reset`: the follower forgets every agent that it knows. `caughtUp`: the known agents are told, and every later
 * change is live.
 */
export type AgentUpdate = { readonly revision: string } & (
  | { readonly type: "reset" | "caughtUp" }
  | { readonly type: "change"; readonly change: AgentChange }
);

export interface AgentUpdatesRequest {
  /** Empty for all. */
  readonly agentIds: readonly AgentId[];
  /**
   * Revision of the last update that the follower got. When it is empty or unknown to this process, all agents are
   * told.
   */
  readonly revision: string;
  readonly abort: AbortSignal;
}

/**
 * Ends only with `abort`. A follower that takes updates more slowly than an agent changes gets only the newest change
 * of that agent. Throws `not_found` for an agent that is not registered, and `unavailable` when presence or the store
 * cannot be read at the start.
 */
export async function* followAgents(
  context: RightsContext,
  feed: AgentPresenceFeed,
  caller: Caller,
  { agentIds, revision, abort }: AgentUpdatesRequest,
): AsyncGenerator<AgentUpdate, void, void> {
  const { sees } = await agentSight(context, caller);
  const changed = new Signal();
  await feed.join(changed);
  try {
    const unknownId = agentIds.find((agentId) => {
      const known = feed.find(agentId);
      return known === undefined || !sees(known);
    });
    if (unknownId !== undefined) throw agentNotRegistered(unknownId);
    const followed = new Set(agentIds);
    const known = feed.numberOf(revision);
    let last = known ?? 0;
    if (known === undefined) yield { type: "reset", revision: feed.revisionOf(last) };
    for (let isCaughtUp = false; !abort.aborted; isCaughtUp = true) {
      for (const change of feed.since(last)) {
        last = change.number;
        // A follower that starts with all agents need not hear of agents that are removed already.
        const isPastRemoval = known === undefined && !isCaughtUp && change.presence === "removed";
        if (isPastRemoval || !sees(change) || (followed.size > 0 && !followed.has(change.agentId))) continue;
        yield { type: "change", change, revision: feed.revisionOf(last) };
      }
      if (!isCaughtUp) yield { type: "caughtUp", revision: feed.revisionOf(last) };
      await changed.wait(LONGEST_TIMER_MS, abort);
    }
  } finally {
    feed.leave(changed);
  }
}
