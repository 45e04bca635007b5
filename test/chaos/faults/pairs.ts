/** Two faults at once: the seed chooses them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../world/random.ts";
import { type Fault, waitUntilWorking } from "./fault.ts";
import { freezeCreator, freezeGateway, freezeRedis } from "./frozen.ts";
import { fullDisk } from "./full-disk.ts";
import { partFromRedis, partFromStore } from "./links.ts";
import { freezeAgent, freezeWorker, killAgent, killEdge, killGateway, killWorker } from "./processes.ts";
import { cannotSave, outOfMemory, readOnly } from "./refusals.ts";
import { cutStore, flushRedis, redisOutage, restartRedis, slowStore, storeOutage } from "./servers.ts";
import { tearFile } from "./torn-file.ts";

const APART_MS = 3_000;

/** All faults that may come two at once. */
export const PAIRABLE: readonly Fault[] = [
  killWorker,
  freezeWorker,
  partFromRedis,
  partFromStore,
  killGateway,
  freezeGateway,
  killEdge,
  freezeCreator,
  killAgent,
  freezeAgent,
  fullDisk,
  restartRedis,
  redisOutage,
  flushRedis,
  freezeRedis,
  cannotSave,
  outOfMemory,
  readOnly,
  tearFile,
  storeOutage,
  slowStore,
  cutStore,
];

/** Pairs of faults with different targets, dealt from a deck, so that most faults come before one comes again. */
export function choosePairs(random: Random, count: number): readonly (readonly [Fault, Fault])[] {
  const pairs: (readonly [Fault, Fault])[] = [];
  let deck: readonly Fault[] = [];
  while (pairs.length < count) {
    if (deck.every(({ target }) => target === deck[0]!.target)) deck = random.shuffled(PAIRABLE);
    const [first, ...others] = deck as readonly [Fault, ...Fault[]];
    const second = others.find(({ target }) => target !== first.target)!;
    deck = others.filter((fault) => fault !== second);
    pairs.push([first, second]);
  }
  return pairs;
}

/**
 * The second fault begins at a random moment of the first one. The bounds of recoveries hold for one fault at a time;
 * of two at once nothing is promised but that all is served again, and that nothing is lost.
 */
export function atOnce([first, second]: readonly [Fault, Fault]): Fault {
  return {
    name: `${first.name}; at once: ${second.name}`,
    lastsMs: Math.max(first.lastsMs, second.lastsMs) + APART_MS,
    target: "all",
    async inject(context) {
      await context.record.withoutBounds(async () => {
        const later = sleep(context.random.between(0, APART_MS)).then(() => second.inject(context));
        const ends = await Promise.allSettled([first.inject(context), later]);
        for (const end of ends) if (end.status === "rejected") throw end.reason;
        await waitUntilWorking(context);
      });
    },
  };
}
