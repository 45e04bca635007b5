/** The ports of one simulated process: real interfaces, which lead to the simulated Redis and store. */
import type { MailboxSender } from "../../../queues/ports.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import type { AppContext } from "../../../src/app/context.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import { boardOf, feedOf, mailboxesOf, presenceOf } from "../redis/redis-ports.ts";

export type SimulatedPorts = Pick<
  AppContext,
  "stores" | "feed" | "mailboxes" | "board" | "presence" | "clock" | "log" | "shards" | "eventNamespace"
>;

export function portsOf(world: World, process: Process): SimulatedPorts {
  const { redis, shards, quotas } = world;
  const call = redis.service.callsOf(process);
  const feed = feedOf(redis, process);
  const mailboxes = mailboxesOf(redis, process, shards);
  const send: MailboxSender["send"] = (message) => {
    const taken = world.beside?.take(shardOf(message.rootId, shards), message);
    if (taken === undefined) return mailboxes.send(message);
    taken.then((isDone) => (isDone ? undefined : mailboxes.send(message))).catch(() => undefined);
    return Promise.resolve();
  };
  return {
    // The other stores are not simulated: a part that uses one of them fails the simulation.
    stores: world.storesFor(process) as Stores,
    feed,
    mailboxes: { ...mailboxes, send },
    board: boardOf(redis, call, feed, quotas),
    presence: presenceOf(redis.beats, call),
    clock: process.clock,
    log: silentLog,
    shards,
    eventNamespace: "millrace",
  };
}
