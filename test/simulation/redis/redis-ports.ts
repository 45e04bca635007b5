/** The ports of one process that lead to the simulated Redis: board, presence, mailboxes and feed. */
import type { MailboxSender } from "../../../queues/ports.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import type { Lane, Presence, SharedBoard } from "../../../src/board/board.ts";
import type { Quotas } from "../../../src/domain/quotas.ts";
import type { Feed } from "../../../src/feed/feed.ts";
import type { Process } from "../engine/process.ts";
import type { Call } from "../engine/service.ts";
import type { Beats } from "./beats.ts";
import type { Channels, Subscriber } from "./channels.ts";
import type { Offers } from "./offers.ts";
import type { RedisServer } from "./redis-server.ts";
import type { Vacancies } from "./vacancies.ts";

const BOARD_CHANNEL = "board";

interface BoardData {
  readonly offers: Offers;
  readonly vacancies: Vacancies;
  readonly channels: Channels;
}

/** `feed` carries the announcements of offers. */
export function boardOf(
  { offers, vacancies, channels }: BoardData,
  call: Call,
  feed: Pick<Feed, "subscribe">,
  quotas: Quotas,
): SharedBoard {
  return {
    offer: (offer) =>
      call(`offer ${offer.jobId}`, () => {
        const { projectId, priority, selector } = offer;
        const lane: Lane = { projectId, priority, selector };
        if (offers.offer(offer)) channels.publish(BOARD_CHANNEL, lane);
      }),
    withdraw: (jobId, queuedAt) => call(`withdraw ${jobId}`, () => offers.withdraw(jobId, queuedAt)),
    take: (agent, holdMs, count, shown) =>
      call(`take ${count}`, () => vacancies.take(quotas, agent, holdMs, count, shown)),
    reserve: (offer) => call(`reserve ${offer.jobId}`, () => vacancies.reserve(quotas, offer)),
    hide: (agentId, streamId) => call(`hide ${agentId}`, () => vacancies.hide(agentId, streamId)),
    attend: (attendanceId, isNew = false) => call("attend", () => vacancies.attend(attendanceId, isNew)),
    occupy: (places) => call(`occupy ${places.map(({ jobId }) => jobId).join(" ")}`, () => offers.occupy(places)),
    vacate: (places) => call(`vacate ${places.jobId}`, () => offers.vacate(places)),
    quotaUse: (projectIds) => {
      const hasQuotas = quotas.everyProject !== null || quotas.projects.size + quotas.labels.length > 0;
      return hasQuotas ? call("quota use", () => offers.quotaUse(quotas, projectIds)) : Promise.resolve([]);
    },
    onOffered: (listener) => feed.subscribe(BOARD_CHANNEL, (lane) => listener(lane as Lane, 1)),
    tenantsOf: () => Promise.resolve(new Map()),
    find: (jobIds) => call("find offers", () => offers.find(jobIds)),
    size: () => call("board size", () => offers.size),
    countTurns: (projectIds) => call("count turns", () => offers.countTurns(projectIds)),
    waitsFor: (agent) => call("waiting offers", () => offers.waitsFor(agent)),
  };
}

export function presenceOf(beats: Beats, call: Call): Presence {
  return {
    beat: (record) => call(`beat ${record.agentId}`, () => beats.beat(record)),
    renew: (record) => call(`renew beat ${record.agentId}`, () => beats.renew(record)),
    leave: (agentId, bootId) => call(`presence leave ${agentId}`, () => beats.leave(agentId, bootId)),
    read: (agentIds) => call(`presence ${agentIds.join(" ")}`, () => beats.read(agentIds)),
    online: (maxAgeMs) => call("online", () => beats.online(maxAgeMs)),
    declareLost: (agentId, bootId) => call(`declare lost ${agentId}`, () => beats.declareLost(agentId, bootId)),
    lost: () => call("lost", () => beats.lost()),
  };
}

/** Messages may be dropped and doubled after they were accepted: Redis may lose what it has not written to disk. */
export function mailboxesOf(redis: RedisServer, process: Process, shards: number): MailboxSender {
  const { mailboxes, service, draws, scheduler } = redis;
  return {
    send(message) {
      const shard = shardOf(message.rootId, shards);
      return service.call(process, `send ${describe(message)}`, () => {
        if (draws.chance(service.faults.messageDropped)) return;
        mailboxes.add(shard, message);
        if (draws.chance(service.faults.messageDoubled)) mailboxes.add(shard, message);
      });
    },
    sendAt(message, dueAt, key) {
      const shard = shardOf(message.rootId, shards);
      const delayMs = dueAt - process.clock.now();
      return service.call(process, `send later ${key}`, () => {
        if (!mailboxes.reserve(shard, key)) return;
        scheduler.after(delayMs, () => mailboxes.addDue(shard, message, key));
      });
    },
    close: () => Promise.resolve(),
  };
}

export function feedOf({ channels, service, draws, scheduler }: RedisServer, process: Process): Feed {
  return {
    publish: (channel, payload) =>
      service.call(process, `publish ${channel} ${wordOf(payload)}`, () => channels.publish(channel, payload)),
    async subscribe(channel, listener) {
      let newestAt = 0;
      const subscriber: Subscriber = {
        receive(payload) {
          if (!service.isReachableFrom(process) || draws.chance(service.faults.messageDropped)) return;
          const times = draws.chance(service.faults.messageDoubled) ? 2 : 1;
          for (let time = 0; time < times; time++) {
            newestAt = Math.max(newestAt, scheduler.now + service.delayOfMessage());
            process.after(newestAt - scheduler.now, () => listener(payload));
          }
        },
      };
      await service.call(process, `subscribe ${channel}`, () => channels.subscribe(channel, subscriber));
      process.onDeath.push(() => channels.unsubscribe(channel, subscriber));
      return () => Promise.resolve(channels.unsubscribe(channel, subscriber));
    },
    follow: () => Promise.resolve(() => Promise.resolve()),
    isFollowed: () => false,
    close: () => Promise.resolve(),
  };
}

function describe({ rootId, to, message }: { rootId: string; to: { id: string } | null; message: unknown }): string {
  return to === null ? `doorbell ${rootId}` : `${wordOf(message)} ${to.id}`;
}

function wordOf(payload: unknown): string {
  const { type, object, lifecycle, outcome } = payload as Record<string, string | undefined>;
  return type ?? outcome ?? `${object ?? ""}.${lifecycle ?? ""}`;
}
