/**
 * Performing owed effects at their targets. Each is idempotent there, so that after a crash or an outage all of them
 * are simply performed again.
 */
import type { MailboxSender } from "../../queues/ports.ts";
import type { Board } from "../../src/dispatch/board.ts";
import type { AgentNotice } from "../../src/dispatch/notices.ts";
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { AgentId } from "../../src/domain/ids.ts";
import { agentChannel, commandChannel, type Feed, runChannel } from "../../src/feed/feed.ts";
import type { AggregateHead, OwedRecord } from "../../src/stores/aggregates.ts";
import type { Stores } from "../../src/stores/stores.ts";

/** The beginning of a run of thousands of jobs is performed in parts, so that others get their turn in between. */
const AT_ONCE = 500;

export interface PerformerPorts {
  readonly stores: Pick<Stores, "inbox">;
  readonly feed: Feed;
  readonly board: Board;
  readonly mailboxes: MailboxSender;
}

/**
 * Performs what a snapshot owes; the events are in the store already. Rejects when a target could not be reached; some
 * effects may have been performed then.
 */
export async function performOwed(
  ports: PerformerPorts,
  head: AggregateHead,
  owed: readonly OwedRecord[],
): Promise<void> {
  for (let at = 0; at < owed.length; at += AT_ONCE) {
    const some = owed.slice(at, at + AT_ONCE);
    // Calls are issued in order without waiting in between: each target keeps the order of its connection.
    const calls = some.map(({ effect }) => performOne(ports, head, effect));
    const tellings = eventsOf(head, some).map((event) => ports.feed.publish(runChannel(head.rootId), event));
    await Promise.all([...calls, ...tellings]);
  }
}

/** The events that a snapshot owes. */
export function eventsOf(head: AggregateHead, owed: readonly OwedRecord[]): readonly RunEvent[] {
  return owed.flatMap((record) => toEvent(head, record));
}

function toEvent(head: AggregateHead, { effect, eventNumber, at }: OwedRecord): readonly RunEvent[] {
  if (effect.type !== "publish") return [];
  const { pipelineId } = head.summary;
  return [{ ...effect.event, runId: head.rootId, pipelineId, number: eventNumber!, timeMs: at }];
}

async function performOne(ports: PerformerPorts, head: AggregateHead, effect: OwedEffect): Promise<void> {
  switch (effect.type) {
    case "publish":
      return;
    case "schedule": {
      const { to, timer, generation, dueAt } = effect;
      const letter = { rootId: head.rootId, to, message: { type: "timer", timer, generation } };
      return ports.mailboxes.sendAt(letter, dueAt, `${to.id}.${timer}.${generation}`);
    }
    case "offer":
      return ports.board.offer(effect.offer);
    case "withdraw":
      return ports.board.withdraw(effect.jobId, effect.projectId);
    case "occupy":
      return ports.board.occupy([effect]);
    case "vacate":
      return ports.board.vacate(effect);
    case "dispatch":
      return notify(ports, effect.order.agentId, { type: "dispatch", order: effect.order });
    case "revoke":
    case "release":
    case "acknowledge":
    case "refuse":
    case "refuseClaim": {
      const { agentId, ...notice } = effect;
      return notify(ports, agentId, notice);
    }
    case "answer":
      await ports.stores.inbox.answer(effect.commandId, effect.verdict);
      return ports.feed.publish(commandChannel(effect.commandId), effect.verdict);
  }
}

/** Nobody may be listening: then the agent's next hello or heartbeat is answered from the store. */
function notify(ports: PerformerPorts, agentId: AgentId, notice: AgentNotice): Promise<void> {
  return ports.feed.publish(agentChannel(agentId), notice);
}
