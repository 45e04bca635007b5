/**
 * Performing owed effects at their targets. Each is idempotent there, so that after a crash or an outage all of them
 * are simply performed again.
 */
import type { MailboxSender } from "../../queues/ports.ts";
import { shardOf } from "../../queues/shard-map.ts";
import type { Clock } from "../../src/domain/clock.ts";
import type { Board } from "../../src/board/board.ts";
import type { AgentNotice } from "../../src/board/agent-notices.ts";
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { AgentId, RootId, RunId } from "../../src/domain/ids.ts";
import { agentChannel, commandChannel, type Feed, runChannel } from "../../src/feed/feed.ts";
import type { AggregateHead, OwedRecord } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

/** The beginning of a run of thousands of jobs is performed in parts, so that others get their turn in between. */
const AT_ONCE = 500;

export interface PerformerPorts {
  readonly clock: Pick<Clock, "now">;
  /** Number of mailbox shards. */
  readonly shards: number;
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
  head: AggregateHead<RootId>,
  owed: readonly OwedRecord[],
): Promise<void> {
  for (let at = 0; at < owed.length; at += AT_ONCE) {
    const some = owed.slice(at, at + AT_ONCE);
    // Calls are issued in order without waiting in between: each target keeps the order of its connection.
    const calls = some.map(({ effect }) => performOne(ports, head, effect));
    const tellings = eventsOf(head, some).map((event) => ports.feed.publish(runChannel(event.runId), event));
    await Promise.all([...calls, ...tellings, storeCommands(ports, some)]);
  }
}

/** One after the other: what leaves a group may not come before it has entered. */
async function storeCommands(
  { stores, mailboxes, clock, shards }: PerformerPorts,
  owed: readonly OwedRecord[],
): Promise<void> {
  for (const { effect } of owed) {
    if (effect.type !== "command") continue;
    const { to: rootId, commandId: id, body } = effect;
    await stores.inbox.insert({ ...body, id, rootId, shard: shardOf(rootId, shards), storedAt: clock.now() });
    await mailboxes.send({ rootId, to: null, message: null });
  }
}

/** The events that a snapshot owes. */
export function eventsOf(head: AggregateHead<RootId>, owed: readonly OwedRecord[]): readonly RunEvent[] {
  return owed.flatMap((record) => toEvent(head, record));
}

function toEvent(head: AggregateHead<RootId>, { effect, eventNumber, at }: OwedRecord): readonly RunEvent[] {
  if (effect.type !== "publish") return [];
  const { pipelineId } = head.summary;
  return [{ ...effect.event, runId: head.rootId as RunId, pipelineId, number: eventNumber!, timeMs: at }];
}

async function performOne(ports: PerformerPorts, head: AggregateHead<RootId>, effect: OwedEffect): Promise<void> {
  switch (effect.type) {
    case "publish":
    case "command":
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
