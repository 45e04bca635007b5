/** The agents as programs follow them: those that are known, then each change. */
import type { AgentId } from "../../domain/ids.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { AgentPresenceFeed, AgentChange } from "./agent-presence-feed.ts";
import { Signal } from "../signal.ts";
import { noAgent } from "../agents/agent-removal.ts";

/** Longer than nothing changes; timers take no more. */
const UNTIL_CHANGED_MS = 2 ** 31 - 1;

/** `reset`: what was known before is void; `caughtUp`: what comes now happens now. */
export type AgentNews = { readonly revision: string } & (
  | { readonly type: "reset" | "caughtUp" }
  | { readonly type: "change"; readonly change: AgentChange }
);

export interface AgentsFollowing {
  /** Empty for all. */
  readonly agentIds: readonly AgentId[];
  /** Of the last news; empty, or one that is not known here, to be told of all agents. */
  readonly revision: string;
  readonly abort: AbortSignal;
}

/**
 * Ends with `abort` alone. What changes faster than it is taken is told as it is then. Throws `not_found` for an agent that
 * is not registered, and `unavailable` when the agents cannot be seen at the start.
 */
export async function* followAgents(
  census: AgentPresenceFeed,
  caller: Caller,
  { agentIds, revision, abort }: AgentsFollowing,
): AsyncGenerator<AgentNews, void, void> {
  authoriseUser(caller, "readAgents");
  const changed = new Signal();
  await census.join(changed);
  try {
    const strange = agentIds.find((agentId) => !census.knows(agentId));
    if (strange !== undefined) throw noAgent(strange);
    const wanted = new Set(agentIds);
    const known = census.numberOf(revision);
    let last = known ?? 0;
    if (known === undefined) yield { type: "reset", revision: census.revisionOf(last) };
    for (let isCaughtUp = false; !abort.aborted; isCaughtUp = true) {
      for (const change of census.since(last)) {
        last = change.number;
        // Whoever knows nothing need not hear of what is gone.
        const isVoid = known === undefined && !isCaughtUp && change.presence === "removed";
        if (isVoid || (wanted.size > 0 && !wanted.has(change.agentId))) continue;
        yield { type: "change", change, revision: census.revisionOf(last) };
      }
      if (!isCaughtUp) yield { type: "caughtUp", revision: census.revisionOf(last) };
      await changed.wait(UNTIL_CHANGED_MS, abort);
    }
  } finally {
    census.leave(changed);
  }
}
