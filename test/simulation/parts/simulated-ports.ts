/** The ports of one simulated process: real interfaces, which lead to the simulated Redis and store. */
import type { MailboxSender } from "../../../queues/ports.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import { LoneBoard } from "../../../src/board/lone-board.ts";
import type { Board } from "../../../src/board/board.ts";
import { NO_QUOTAS, projectQuotas } from "../../../src/domain/quotas.ts";
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

/**
 * The board of a gateway, which it shares with the edges of its process while it lives. Vacancies that stay in the process know
 * no quotas, so the world's quotas must be without effect: a slot is reserved with their names, and no room is looked for.
 */
export function gatewayBoard(world: World, process: Process, { board: own, feed }: SimulatedPorts): Board {
  const { redis, quotas, lone } = world;
  if (lone === undefined) return own;
  const board = new LoneBoard({
    shared: boardOf(redis, redis.service.callsOf(process), feed, quotas),
    isAlone: () => lone.isAlone(),
    clock: process.clock,
    quotas: () => NO_QUOTAS,
  });
  const died = new Promise<never>((_, reject) => {
    process.onDeath.push(() => reject(new Error(`${process.name} has died`)));
  });
  died.catch(() => undefined);
  const reserve: Board["reserve"] = async (offer) => {
    // An edge is a process of its own here, and survives the gateway.
    const reservation = await Promise.race([board.reserve(offer), died]);
    const names = projectQuotas(quotas, offer.projectId).map(({ name }) => name);
    return reservation && { ...reservation, quotas: names };
  };
  lone.board = { reserve };
  process.onDeath.push(() => {
    if (lone.board?.reserve === reserve) lone.board = undefined;
  });
  return board;
}

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
  const board = boardOf(redis, call, feed, quotas);
  return {
    // The other stores are not simulated: a part that uses one of them fails the simulation.
    stores: world.storesFor(process) as Stores,
    feed,
    mailboxes: { ...mailboxes, send },
    board: { ...board, reserve: (offer) => (world.lone?.board ?? board).reserve(offer) },
    presence: presenceOf(redis.beats, call),
    clock: process.clock,
    log: silentLog,
    shards,
    eventNamespace: "millrace",
  };
}
