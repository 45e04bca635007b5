/** Puts what agents report about themselves into the log of system events of their tenant. */
import { setTimeout as sleep } from "node:timers/promises";
import { announceSystemEvent } from "../../feed/system-event-hints.ts";
import { rfc3339 } from "../../app/times.ts";
import type { AgentId } from "../../domain/ids.ts";
import { type SystemEventDraft, systemLogOf } from "../../domain/system-events.ts";
import type { AgentEvent } from "../../stores/ports/agent-events.ts";
import type { IngestContext } from "./context.ts";

/** An agent may report so many events at once, and then one in each {@link PACE_MS}. What comes faster waits for its answer. */
const BURST = 100;
const PACE_MS = 10;
/** Agents whose pace is remembered. */
const PACED_AGENTS = 10_000;

/** When each agent has waited for all of its events, by the monotonic clock; all streams of the agent count. */
const paidUntil = new Map<AgentId, number>();

/** A repeat changes nothing. Events of an agent that was removed meanwhile are told to no one. */
export async function tellOwnEvents(
  context: IngestContext,
  agentId: AgentId,
  events: readonly AgentEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { identity, systemEvents } = context.stores;
  const agent = await identity.findAgent(agentId);
  if (agent === undefined) return;
  await keepPace(context, agentId, events.length);
  const log = systemLogOf(agent.reach?.tenantId);
  await systemEvents.append(
    events.map(({ eventId, type, subject, time, receivedAt, data }): SystemEventDraft => {
      const report = JSON.parse(data) as object;
      return {
        log,
        eventId: `report/${agentId}/${eventId}`,
        object: "agent",
        lifecycle: type.slice(type.lastIndexOf(".") + 1),
        // Not the time of the agent, whose clock may be wrong: events are removed by their age.
        timeMs: receivedAt,
        data: { id: agentId, eventId, subject, reportedAt: rfc3339(time), report },
      };
    }),
  );
  announceSystemEvent(context, log);
}

async function keepPace({ clock }: IngestContext, agentId: AgentId, count: number): Promise<void> {
  const now = clock.monotonic();
  const until = Math.max(now, paidUntil.get(agentId) ?? 0) + count * PACE_MS;
  paidUntil.delete(agentId);
  paidUntil.set(agentId, until);
  for (const [known, at] of paidUntil) {
    if (at > now && paidUntil.size <= PACED_AGENTS) break;
    paidUntil.delete(known);
  }
  const waitMs = until - now - BURST * PACE_MS;
  if (waitMs > 0) await sleep(waitMs);
}
