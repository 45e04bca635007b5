/** Nodes that join and differ from the others: by their clock, or by their release. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, PROBE_PIPELINE, waitUntilWorking } from "./fault.ts";
import { kill } from "./processes.ts";

const HOUR_MS = 3_600_000;
const STAY_MS = 15_000;

/** A worker with such a clock would fire timeouts an hour early: it must own nothing. */
export const wrongClock: Fault = {
  name: "a worker joins whose clock is an hour ahead",
  lastsMs: 20_000,
  target: "worker",
  async inject(context) {
    const { probe, record } = context;
    const known = new Set(await probe!.owners());
    const guest = await context.installation.addGuest({ clockAheadMs: HOUR_MS });
    context.record.addKill(`the clock of ${guest.name}`);
    await sleep(STAY_MS);
    await waitUntilWorking(context);
    const owned = (await probe!.owners()).filter((owner) => owner !== null && !known.has(owner));
    if (owned.length > 0)
      record.addViolation("wrong", `a worker whose clock is an hour ahead owns ${owned.length} shards`);
    await guest.end("SIGTERM");
    await waitUntilWorking(context);
  },
};

/**
 * Nodes of the next release join: a worker, and a node of all roles that creates runs. Both die, come back and leave,
 * so that each release continues what the other one has begun.
 */
export const nextRelease: Fault = {
  name: "nodes of the next release join, die, come back and leave",
  lastsMs: 45_000,
  target: "worker",
  async inject(context) {
    const { installation, load } = context;
    const worker = await installation.addGuest({ isOfNextRelease: true });
    const all = await installation.addGuest({ isOfNextRelease: true, roles: "edge,gateway,worker" });
    const url = `http://${all.addressOf("http")}`;
    await Promise.all([1, 2, 3].map(() => load.triggerAt(url, PROBE_PIPELINE, ["success"])));
    await waitUntilWorking(context);
    for (const guest of [worker, all]) {
      await kill(context, guest);
      await waitUntilWorking(context);
      await guest.start();
    }
    await waitUntilWorking(context);
    for (const guest of [worker, all]) await guest.end("SIGTERM");
    await waitUntilWorking(context);
  },
};
