import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import { RunEventFeed } from "../../../src/app/following/run-event-feed.ts";
import type { AppContext } from "../../../src/app/context.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { MillraceError } from "../../../src/domain/errors.ts";
import type { EventDraft, RunEvent } from "../../../src/domain/events.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { seeded } from "../../chaos/world/random.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { planOf } from "../../support/plans.ts";
import { saveTurn, type StoredRun, storeRun } from "../../support/stored-runs.ts";
import { openTestSqlite } from "../../support/stores.ts";

const EVENTS = 2_000;
const SEED = 8;

/** A feed that loses messages, delivers some twice and some late, and refuses some subscriptions. */
class BadFeed {
  readonly #listeners = new Set<(payload: unknown) => void>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  get size(): number {
    return this.#listeners.size;
  }

  publish(_: string, payload: unknown): Promise<void> {
    const luck = this.#random();
    if (luck < 0.2) return Promise.resolve();
    const deliver = () => this.#listeners.forEach((listener) => listener(payload));
    if (luck < 0.3) setTimeout(deliver, 20);
    else deliver();
    if (luck > 0.9) deliver();
    return Promise.resolve();
  }

  follow(channel: string, listener: (payload: unknown) => void) {
    return this.subscribe(channel, listener);
  }

  isFollowed(): boolean {
    return false;
  }

  async subscribe(_: string, listener: (payload: unknown) => void) {
    await sleep(this.#random() * 10);
    if (this.#random() < 0.3) throw new Error("no Redis");
    // Each subscription has an entry of its own.
    const entry = (payload: unknown) => listener(payload);
    this.#listeners.add(entry);
    return () => Promise.resolve(void this.#listeners.delete(entry));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const quietFeed = {
  publish: () => Promise.resolve(),
  subscribe: () => Promise.resolve(() => Promise.resolve()),
  isFollowed: () => false,
  close: () => Promise.resolve(),
};

describe("the event feed of runs", function () {
  // An event that the feed loses is read from the store 5 s later, unless the store is unavailable then.
  this.timeout(60_000);
  let sqlite: Awaited<ReturnType<typeof openTestSqlite>>;
  before(async () => (sqlite = await openTestSqlite()));
  after(() => sqlite.close());

  /** A store that is unavailable at times, and in which an event may appear later than the events after it. */
  function badStores(random: () => number): Stores {
    const { stores } = sqlite;
    const read = async (...[runId, after, limit]: Parameters<Stores["events"]["read"]>) => {
      if (random() < 0.1) throw new MillraceError("unavailable", "the store is unavailable");
      const events = await stores.events.read(runId, after, limit);
      return random() < 0.2 ? events.filter(() => random() > 0.1) : events;
    };
    return { ...stores, events: { ...stores.events, read } };
  }

  const draft = (status: string, lifecycle: EventDraft["lifecycle"] = "started"): EventDraft => ({
    object: "pipeline",
    lifecycle,
    jobId: null,
    stepRunId: null,
    status,
    data: {},
  });

  it("gives each follower each event once and in order, despite a bad feed, a bad store and reconnects", async () => {
    const chance = seeded(SEED);
    const random = (): number => chance.between(0, 999_999) / 1_000_000;
    const feed = new BadFeed(random);
    const context = {
      stores: sqlite.stores,
      feed,
      clock: systemClock,
      log: silentLog,
    } as Partial<AppContext> as AppContext;
    const run: StoredRun = await storeRun(context, planOf([[{}]]));
    const runEvents = new RunEventFeed({ ...context, stores: badStores(random) });

    const withoutContent: number[] = [];
    /** Stores what an agent pushes about a step; answers the events that its run logs then. */
    async function pushed(count: number): Promise<readonly EventDraft[]> {
      const stepRunId = newId("step");
      const base = { agentId: newId("agt"), runId: run.runId, stepRunId, type: "svc.step.note", subject: "" };
      const event = (at: number) => ({ ...base, eventId: `e${at}`, time: 1, receivedAt: 1, data: "{}" });
      await sqlite.stores.agentEvents.appendToStep(Array.from({ length: count }, (_, at) => event(at)));
      const step = { object: "step", lifecycle: "pushed", jobId: null, stepRunId, status: "running" } as const;
      return Array.from({ length: count }, (_, at) => ({ ...step, data: { sequence: at + 1 } }));
    }

    async function followWithReconnects(): Promise<readonly number[]> {
      const numbers: number[] = [];
      for (;;) {
        const abort = new AbortController();
        // One follower in four is not cut off.
        if (random() > 0.25) setTimeout(() => abort.abort(), random() * 300);
        const request = { runId: run.runId, after: numbers.at(-1) ?? 0, abort: abort.signal };
        for await (const events of runEvents.follow(request)) {
          for (const { number, lifecycle, pushed } of events as readonly RunEvent[]) {
            numbers.push(number);
            if ((lifecycle === "pushed") !== (pushed !== undefined)) withoutContent.push(number);
          }
          if (random() < 0.05) await sleep(20);
        }
        if (!abort.signal.aborted) return numbers;
      }
    }

    const followers = Array.from({ length: 20 }, followWithReconnects);
    for (let saved = 0; saved < EVENTS;) {
      const count = Math.min(EVENTS - saved, 1 + Math.floor(random() * 40));
      const events = random() < 0.3 ? await pushed(count) : Array.from({ length: count }, () => draft("running"));
      await saveTurn(context, run, { events });
      saved += count;
      await sleep(random() * 20);
    }
    followers.push(followWithReconnects());
    await saveTurn(context, run, { run: { state: "success" }, events: [draft("success", "completed")] });
    const expected = Array.from({ length: EVENTS + 1 }, (_, at) => at + 1);
    for (const numbers of await Promise.all(followers)) expect(numbers).to.deep.equal(expected);
    expect(withoutContent, "events without the content that was pushed").to.deep.equal([]);
    await sleep(20);
    expect(feed.size, "subscriptions that are left").to.equal(0);
  });

  it("reads what was stored before other nodes knew that the run is followed", async () => {
    let follows = 0;
    // The other nodes publish nothing yet, and the follower is told that they will.
    const silent = { ...quietFeed, follow: () => (follows++, Promise.resolve(() => Promise.resolve())) };
    const context = { stores: sqlite.stores, feed: silent, clock: systemClock, log: silentLog };
    const run = await storeRun(context as never, planOf([[{}]]));
    let reads = 0;
    const read: Stores["events"]["read"] = async (...call) => {
      const events = await sqlite.stores.events.read(...call);
      // Stored behind the read that follows the subscription.
      if (follows === 1 && ++reads === 2) await saveTurn(context as never, run, { events: [draft("running")] });
      return events;
    };
    const stores = { ...sqlite.stores, events: { ...sqlite.stores.events, read } };
    const begunAt = performance.now();
    const abort = new AbortController();
    for await (const [event] of new RunEventFeed({ ...context, stores }).follow({
      runId: run.runId,
      after: 0,
      abort: abort.signal,
    })) {
      expect(event!.status).to.equal("running");
      abort.abort();
    }
    // The read that finds what the feed has lost comes after 5 s.
    expect(performance.now() - begunAt).to.be.below(4_000);
  });
});
