/**
 * The logs of system events as this process follows them. A follower keeps only the number of its last event. New events
 * of a log are read once for all of its followers; older events are read from the store at the pace of each follower.
 */
import { LONGEST_TIMER_MS } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { SystemEvent, SystemLog } from "../../domain/system-events.ts";
import { systemChannel, type Unsubscribe } from "../../feed/feed.ts";
import { loopShare } from "../loop-share.ts";
import { Signal } from "../signal.ts";
import type { SystemEventContext } from "./context.ts";

/** Between two reads of the store while a log is followed: a hint makes the next one come at once. */
const REREAD_MS = 5_000;
/** Events of one read. */
const MAX_EVENTS = 100;
/** The newest events of a log in memory, at least while there are as many. */
const KEPT_EVENTS = 200;

type FeedContext = Pick<SystemEventContext, "feed" | "clock" | "log" | "stores">;

export interface EventsAfter {
  readonly systemLog: SystemLog;
  /** Number of the last event that the follower has. */
  readonly after: number;
  readonly abort: AbortSignal;
}

export class SystemEventFeed {
  readonly #context: FeedContext;
  readonly #logs = new Map<SystemLog, FollowedLog>();

  constructor(context: FeedContext) {
    this.#context = context;
  }

  /**
   * The events of a log behind a number, several at a time, each once and in order. Numbers are missing where events were
   * removed before the follower came to them. Ends only with `abort`. A feed or a store that is unavailable only delays
   * the events. Throws `not_found` when the log was deleted.
   */
  async *follow({ systemLog, after, abort }: EventsAfter): AsyncGenerator<readonly SystemEvent[], void, void> {
    const followed = this.#logs.get(systemLog) ?? new FollowedLog(this.#context, systemLog);
    this.#logs.set(systemLog, followed);
    const changed = new Signal();
    followed.followers.add(changed);
    try {
      for (let last = after; !abort.aborted;) {
        const events = followed.after(last) ?? (await this.#readOlder(systemLog, last));
        if (events.length > 0) {
          last = events.at(-1)!.number;
          yield events;
        } else {
          await changed.wait(LONGEST_TIMER_MS, abort);
        }
      }
    } finally {
      followed.followers.delete(changed);
      if (followed.followers.size === 0) {
        followed.close();
        if (this.#logs.get(systemLog) === followed) this.#logs.delete(systemLog);
      }
    }
  }

  /** Empty while the store is unavailable: the next sign of life makes the follower read again. */
  async #readOlder(systemLog: SystemLog, last: number): Promise<readonly SystemEvent[]> {
    await loopShare.enter();
    try {
      const events = await this.#context.stores.systemEvents.read(systemLog, last, MAX_EVENTS);
      if (events.length === 0) throw new MillraceError("not_found", `the log ${JSON.stringify(systemLog)} was deleted`);
      return events;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return [];
    }
  }
}

/** One log that this process follows: its newest events. */
class FollowedLog {
  readonly followers = new Set<Signal>();
  readonly #context: FeedContext;
  readonly #systemLog: SystemLog;
  readonly #closed = new AbortController();
  readonly #wake = new Signal();
  /** The newest events, without a gap. */
  #kept: readonly SystemEvent[] = [];
  /** Number of the newest known event; null until the store was read. */
  #newest: number | null = null;
  #subscription: Promise<Unsubscribe> | undefined;

  constructor(context: FeedContext, systemLog: SystemLog) {
    this.#context = context;
    this.#systemLog = systemLog;
    void this.#keepUp();
  }

  /** Events behind that number, empty when there are none yet; undefined when they have to be read from the store. */
  after(number: number): readonly SystemEvent[] | undefined {
    if (this.#newest === null || number >= this.#newest) return [];
    const at = number + 1 - (this.#kept[0]?.number ?? Number.POSITIVE_INFINITY);
    return at < 0 ? undefined : this.#kept.slice(at, at + MAX_EVENTS);
  }

  close(): void {
    this.#closed.abort();
    this.#unsubscribe();
  }

  async #keepUp(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      this.#subscription ??= this.#subscribe();
      const isBehind = await this.#read();
      for (const follower of this.followers) follower.raise();
      if (!isBehind) await this.#wake.wait(REREAD_MS, this.#closed.signal);
    }
    this.#unsubscribe();
  }

  /** Answers whether the store has more. */
  async #read(): Promise<boolean> {
    const { systemEvents } = this.#context.stores;
    try {
      this.#newest ??= await systemEvents.newest(this.#systemLog);
      const events = await systemEvents.read(this.#systemLog, this.#newest, MAX_EVENTS);
      if (events.length === 0) return false;
      const isNext = events[0]!.number === this.#newest + 1;
      this.#kept = [...(isNext ? this.#kept : []), ...events].slice(-KEPT_EVENTS);
      this.#newest = events.at(-1)!.number;
      return events.length === MAX_EVENTS;
    } catch (error) {
      this.#context.log.debug({ systemLog: this.#systemLog, error: String(error) }, "a log of system events waits");
      return false;
    }
  }

  #subscribe(): Promise<Unsubscribe> {
    const subscription = this.#context.feed.follow(systemChannel(this.#systemLog), () => this.#wake.raise());
    subscription.then(
      // Events from before the subscription are in the store.
      () => this.#wake.raise(),
      () => (this.#subscription = undefined),
    );
    return subscription;
  }

  #unsubscribe(): void {
    this.#subscription?.then((leave) => leave()).catch(() => {});
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof MillraceError && error.reason === "unavailable";
}
