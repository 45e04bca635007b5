import { expect } from "chai";
import { SystemEventFeed } from "../../../src/app/system-events/system-event-feed.ts";
import type { SystemEventContext } from "../../../src/app/system-events/context.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { SystemEvent, SystemLog } from "../../../src/domain/system-events.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

describe("the feed of system events", () => {
  let sqlite: Awaited<ReturnType<typeof openTestSqlite>>;
  let feed: SystemEventFeed;
  let log: SystemLog;
  let reads: number;
  let made = 0;
  const listeners = new Set<(payload: unknown) => void>();
  const ends: AbortController[] = [];
  before(async () => (sqlite = await openTestSqlite()));
  after(() => sqlite.close());
  beforeEach(() => {
    [log, reads] = [newId("tnt"), 0];
    const { systemEvents } = sqlite.stores;
    const read: typeof systemEvents.read = (...args) => {
      reads++;
      return systemEvents.read(...args);
    };
    const follow = async (_: string, listener: () => void) => {
      listeners.add(listener);
      return () => Promise.resolve(void listeners.delete(listener));
    };
    const stores = { ...sqlite.stores, systemEvents: { ...systemEvents, read } };
    const context = { stores, clock: systemClock, log: silentLog, feed: { follow } };
    feed = new SystemEventFeed(context as unknown as SystemEventContext);
  });
  afterEach(() => ends.splice(0).forEach((end) => end.abort()));

  async function append(count: number): Promise<void> {
    await sqlite.stores.systemEvents.append(
      Array.from({ length: count }, () => {
        return {
          log,
          eventId: `e${++made}`,
          object: "agent",
          lifecycle: "online",
          timeMs: 1,
          data: { id: "a" },
        } as const;
      }),
    );
    for (const listener of listeners) listener(null);
  }
  function follow(after: number): { readonly numbers: number[]; readonly over: Promise<unknown> } {
    const [numbers, abort]: [number[], AbortController] = [[], new AbortController()];
    ends.push(abort);
    const take = async (): Promise<void> => {
      for await (const events of feed.follow({ systemLog: log, after, abort: abort.signal })) {
        numbers.push(...events.map(({ number }: SystemEvent) => number));
      }
    };
    return { numbers, over: take().catch((error: unknown) => error) };
  }
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

  it("reads new events once for all who follow a log, and gives each of them in order", async () => {
    await append(3);
    const followers = Array.from({ length: 50 }, () => follow(3));
    await until("it listens", () => listeners.size > 0 && reads >= 2);
    const before = reads;
    await append(2);
    await until("all have them", () => followers.every(({ numbers }) => numbers.length === 2));
    for (const { numbers } of followers) expect(numbers).to.deep.equal([4, 5]);
    expect(reads - before).to.equal(1);
    await append(500);
    await until("all have the others", () => followers.every(({ numbers }) => numbers.length === 502));
    for (const { numbers } of followers) expect(numbers).to.deep.equal(upTo(505, 4));
    for (const end of ends.splice(0)) end.abort();
    await Promise.all(followers.map(({ over }) => over));
    expect(listeners.size, "no listener is left").to.equal(0);
  });

  it("reads what is older from the store, at the pace of the follower", async () => {
    await append(450);
    const [late, early] = [follow(420), follow(0)];
    await until("both are up to date", () => late.numbers.length + early.numbers.length === 480);
    expect(late.numbers).to.deep.equal(upTo(450, 421));
    expect(early.numbers).to.deep.equal(upTo(450));
  });

  it("ends for who is behind when the log is deleted", async () => {
    await append(250);
    const abort = new AbortController();
    ends.push(abort);
    const slow = feed.follow({ systemLog: log, after: 0, abort: abort.signal });
    expect((await slow.next()).value).to.have.length(100);
    await sqlite.stores.systemEvents.drop(log, 1_000);
    const error = await slow.next().catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "not_found" });
  });
});
