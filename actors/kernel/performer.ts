/**
 * Performs owed effects at their targets. Each effect is idempotent at its target, so after a crash or an outage all of
 * them are performed again.
 */
import { setImmediate as nextEventLoopTurn } from "node:timers/promises";
import type { MailboxSender } from "../../queues/ports.ts";
import { shardOf } from "../../queues/shard-map.ts";
import type { Clock } from "../../src/domain/clock.ts";
import type { Board } from "../../src/board/board.ts";
import type { AgentNotice } from "../../src/board/agent-notices.ts";
import type { OwedEffect, ReadTriggersEffect, StartRunEffect, Verdict } from "../../src/domain/effects.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { AgentId, ApprovalId, CommandId, RootId, RunId } from "../../src/domain/ids.ts";
import {
  agentChannel,
  type ApprovalHint,
  APPROVALS_CHANNEL,
  commandChannel,
  type Feed,
  runChannel,
  type RunHint,
  RUNS_CHANNEL,
} from "../../src/feed/feed.ts";
import type { AggregateHead, OwedRecord } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

/**
 * Effects performed at once. A run of thousands of jobs owes many at its start; between two parts other work gets its
 * turn.
 */
const EFFECTS_AT_ONCE = 500;

export interface PerformerPorts {
  readonly clock: Pick<Clock, "now">;
  /** Number of mailbox shards. */
  readonly shards: number;
  readonly stores: Pick<Stores, "inbox">;
  readonly feed: Feed;
  readonly board: Board;
  readonly mailboxes: MailboxSender;
  /** What schedules need of the use cases. Absent for who performs the effects of runs only. */
  readonly schedules?: SchedulePort;
}

/** Both calls store their answer as a command. They reject when they have to be made again. */
export interface SchedulePort {
  startRun(effect: StartRunEffect): Promise<void>;
  readTriggers(effect: ReadTriggersEffect): Promise<void>;
}

/**
 * Performs the owed effects of a snapshot, whose events are in the store already. Rejects when a target could not be
 * reached; some of the effects may have been performed then.
 */
export async function performOwed(
  ports: PerformerPorts,
  head: AggregateHead<RootId>,
  owed: readonly OwedRecord[],
): Promise<void> {
  for (let at = 0; at < owed.length; at += EFFECTS_AT_ONCE) {
    const part = owed.slice(at, at + EFFECTS_AT_ONCE);
    const calls: Promise<void>[] = [];
    // The calls are made in order without waiting in between: each connection keeps the order of its calls.
    for (const { effect } of acknowledgementsLast(part)) {
      if (effect.type !== "publish" && effect.type !== "command") calls.push(performOne(ports, head, effect));
    }
    calls.push(publish(ports.feed, head, part), storeCommands(ports, part));
    await Promise.all(calls);
  }
}

/** An agent that is told to run the next step of a job has begun it before it hears that its last report was processed. */
function acknowledgementsLast(owed: readonly OwedRecord[]): readonly OwedRecord[] {
  const acknowledgements = owed.filter(({ effect }) => effect.type === "acknowledge");
  if (acknowledgements.length === 0) return owed;
  return [...owed.filter(({ effect }) => effect.type !== "acknowledge"), ...acknowledgements];
}

/** Tells those who follow the run its events, and those who follow many runs or approvals what has changed. */
async function publish(feed: Feed, head: AggregateHead<RootId>, owed: readonly OwedRecord[]): Promise<void> {
  if (!owed.some(({ effect }) => effect.type === "publish")) return;
  // A dispatch leaves this process when the event loop turns. What followers get before that would hold it up.
  if (owed.some(({ effect }) => effect.type === "dispatch")) await nextEventLoopTurn();
  const published: Promise<void>[] = [];
  const runId = head.rootId as RunId;
  // Events are made only for viewers who follow them: most runs have none.
  if (feed.isFollowed(runChannel(runId))) published.push(...publishEvents(feed, head, owed));
  if (feed.isFollowed(RUNS_CHANNEL)) published.push(feed.publish(RUNS_CHANNEL, hintOf(head)));
  for (const hint of approvalHints(runId, owed)) {
    if (feed.isFollowed(APPROVALS_CHANNEL)) published.push(feed.publish(APPROVALS_CHANNEL, hint));
  }
  await Promise.all(published);
}

function publishEvents(feed: Feed, head: AggregateHead<RootId>, owed: readonly OwedRecord[]): readonly Promise<void>[] {
  const events = eventsOf(head, owed);
  // Followers read the content of pushed events from the store: the last one of several in a row tells them to.
  const told = events.filter((event, at) => !(isPushed(event) && isPushed(events[at + 1])));
  return told.map((event) => feed.publish(runChannel(event.runId), event));
}

function approvalHints(runId: RunId, owed: readonly OwedRecord[]): readonly ApprovalHint[] {
  return owed.flatMap(({ effect }) =>
    effect.type === "publish" && effect.event.object === "approval"
      ? [{ runId, approvalId: effect.event.data["approvalId"] as ApprovalId }]
      : [],
  );
}

/** What those who follow many runs hear of one that has published events. */
function hintOf({ rootId, version, eventNumber, summary }: AggregateHead<RootId>): RunHint {
  const { pipelineId, projectId, status, bound, waits } = summary;
  return { runId: rootId as RunId, pipelineId, projectId, status, bound, waits, version, eventNumber };
}

/** Stores the commands one after the other, so that a member never leaves a group before it has entered. */
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

/**
 * True when each target finds out by itself what these effects tell it, provided that the events are stored with the
 * snapshot: followers read the stored events again, and an agent learns with its next heartbeat that its report was
 * processed and its job has ended. So a node that dies before it has performed them leaves nothing to do for another one.
 */
export function isFound(owed: readonly OwedRecord[]): boolean {
  return owed.every(({ effect: { type } }) => type === "publish" || type === "acknowledge" || type === "release");
}

/** Records of effects that are performed without a save. */
export function toRecords(effects: readonly OwedEffect[], at: number): readonly OwedRecord[] {
  return effects.map((effect) => ({ effect, eventNumber: null, at }));
}

/** The events that a snapshot owes. */
export function eventsOf(head: AggregateHead<RootId>, owed: readonly OwedRecord[]): readonly RunEvent[] {
  const events: RunEvent[] = [];
  const { pipelineId } = head.summary;
  const runId = head.rootId as RunId;
  for (const { effect, eventNumber, at } of owed) {
    if (effect.type !== "publish") continue;
    // Named one by one: a spread of the draft costs several times as much.
    const { object, lifecycle, jobId, stepRunId, status, data } = effect.event;
    const [number, timeMs] = [eventNumber!, at];
    events.push({ object, lifecycle, jobId, stepRunId, status, data, runId, pipelineId, number, timeMs });
  }
  return events;
}

/** An effect that is performed by a call of its own. */
type SingleEffect = Exclude<OwedEffect, { readonly type: "publish" | "command" }>;

function performOne(ports: PerformerPorts, head: AggregateHead<RootId>, effect: SingleEffect): Promise<void> {
  switch (effect.type) {
    case "schedule": {
      const { to, timer, generation, dueAt } = effect;
      const message = { rootId: head.rootId, to, message: { type: "timer", timer, generation } };
      return ports.mailboxes.sendAt(message, dueAt, `${to.id}.${timer}.${generation}`);
    }
    case "offer":
      return ports.board.offer(effect.offer);
    case "withdraw":
      return ports.board.withdraw(effect.jobId, effect.queuedAt);
    case "occupy":
      return ports.board.occupy([effect]);
    case "vacate":
      return ports.board.vacate(effect);
    case "dispatch":
      return notify(ports, effect.order.agentId, { type: "dispatch", order: effect.order });
    case "acknowledge": {
      // Most notices are of this type. A rest pattern takes several times as long.
      const { type, agentId, stepRunId, token } = effect;
      return notify(ports, agentId, { type, stepRunId, token });
    }
    case "revoke":
    case "release":
    case "refuse":
    case "refuseClaim": {
      const { agentId, ...notice } = effect;
      return notify(ports, agentId, notice);
    }
    case "startRun":
      return schedulePort(ports).startRun(effect);
    case "readTriggers":
      return schedulePort(ports).readTriggers(effect);
    case "answer":
      return answer(ports, effect.commandId, effect.verdict);
  }
}

async function answer({ stores, feed }: PerformerPorts, commandId: CommandId, verdict: Verdict): Promise<void> {
  await stores.inbox.answer(commandId, verdict);
  await feed.publish(commandChannel(commandId), verdict);
}

function schedulePort({ schedules }: PerformerPorts): SchedulePort {
  if (schedules === undefined) throw new Error("this process starts no runs for schedules");
  return schedules;
}

/**
 * Sends a notice to the gateway of the agent. When no gateway listens, the agent's next hello or heartbeat is answered
 * from the store.
 */
function notify(ports: PerformerPorts, agentId: AgentId, notice: AgentNotice): Promise<void> {
  return ports.feed.publish(agentChannel(agentId), notice);
}

function isPushed(event: RunEvent | undefined): boolean {
  return event?.lifecycle === "pushed";
}
