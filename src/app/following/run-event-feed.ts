/**
 * The events of runs as this process follows them. A follower keeps only the number of its last event. New events of a
 * run are received once for all of its followers; older events are read from the store at the pace of each follower.
 */
import { LONGEST_TIMER_MS } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";
import { isFinalRunStatus, type RunStatus } from "../../domain/status.ts";
import { KNOWN_MS, runChannel, type Unsubscribe } from "../../feed/feed.ts";
import { contentLength, isLastPage, isPushed, PAGE_BYTES } from "../../stores/ports/events.ts";
import type { WithStores } from "../context.ts";
import type { FollowingContext } from "./context.ts";
import { requireKeptEvents } from "../runs/kept-parts.ts";
import { noRun } from "../lookups.ts";
import { loopShare } from "../loop-share.ts";
import { EventPages } from "./event-pages.ts";
import { RunSnapshots } from "./run-snapshots.ts";
import { Signal } from "../signal.ts";

/** Between two reads of the store while a run is followed. */
const REREAD_MS = 5_000;
/**
 * Between two reads after a gap, and before the end of a run: the missing event may be stored a moment later than a
 * newer one arrives.
 */
const GAP_REREAD_MS = 200;
/** Events of one read or one answer, at most. */
const MAX_EVENTS = 100;
/** Events of a run in memory: the newest ones without a gap, and as many above a gap. */
const KEPT_EVENTS = 200;
/** Content of pushed events of a run in memory: as much as a read of the store answers at most, twice. */
const KEPT_CONTENT = 2 * PAGE_BYTES;

type FeedContext = Pick<FollowingContext, "feed" | "clock" | "log"> & WithStores<"aggregates" | "events" | "retention">;

export interface RunEventsAfter {
  readonly runId: RunId;
  /** Number of the last event that the follower has. */
  readonly after: number;
  readonly abort: AbortSignal;
}

/** The events of all runs that this process follows. */
export class RunEventFeed {
  /** Where a follower begins. */
  readonly snapshots: RunSnapshots;
  readonly #context: FeedContext;
  readonly #pages = new EventPages();
  readonly #runs = new Map<RunId, FollowedRun>();

  constructor(context: FeedContext) {
    this.#context = context;
    this.snapshots = new RunSnapshots(context);
  }

  /**
   * The events of a run after a number, several at a time: each event once, in order, without a gap. Ends when the run
   * is settled and all events were given. A feed or a store that is unavailable only delays the events. Throws
   * `not_found` when the run, or an event after the number, was deleted.
   */
  async *follow({ runId, after, abort }: RunEventsAfter): AsyncGenerator<readonly RunEvent[], void, void> {
    const run = this.#runs.get(runId) ?? new FollowedRun(this.#context, runId);
    this.#runs.set(runId, run);
    const changed = new Signal();
    run.followers.add(changed);
    try {
      for (let last = after; !abort.aborted;) {
        const kept = run.after(last);
        const events = kept ?? (await this.#readPage(runId, last));
        if (events.length > 0) {
          last = events.at(-1)!.number;
          yield events;
        } else if (run.endsAt(last)) {
          return;
        } else {
          await changed.wait(kept === undefined ? GAP_REREAD_MS : LONGEST_TIMER_MS, abort);
        }
      }
    } finally {
      run.followers.delete(changed);
      if (run.followers.size === 0) {
        run.close();
        if (this.#runs.get(runId) === run) this.#runs.delete(runId);
      }
    }
  }

  async #readPage(runId: RunId, last: number): Promise<readonly RunEvent[]> {
    const known = this.#pages.get(runId, last);
    if (known !== undefined) return known;
    await loopShare.enter();
    // Pages end at the same events for all followers.
    const page = await readEvents(this.#context, runId, last, MAX_EVENTS - (last % MAX_EVENTS));
    return page.length > 0 && page.at(-1)!.number % MAX_EVENTS === 0 ? this.#pages.share(runId, last, page) : page;
  }
}

/** One run that this process follows: its new events since the first follower came. */
class FollowedRun {
  readonly followers = new Set<Signal>();
  readonly #context: FeedContext;
  readonly #runId: RunId;
  readonly #closed = new AbortController();
  readonly #wake = new Signal();
  /** The newest events, without a gap. */
  #kept: RunEvent[] = [];
  /** Number of the last event without a gap before it; null until the run was read. */
  #newest: number | null = null;
  /** Events that arrived while an event before them was missing, by number. */
  readonly #ahead = new Map<number, RunEvent>();
  #subscription: Promise<Unsubscribe> | undefined;
  /** When the store is read next, by the monotonic clock. */
  #readDueAt = Number.NEGATIVE_INFINITY;
  /** When all nodes publish the events of the run, by the same clock. */
  #knownAt = Number.NEGATIVE_INFINITY;
  /** The run is final, and may still owe effects. */
  #ending = false;
  /** Number of the last event of all, known when the run is settled. */
  #last: number | null = null;
  #fault: unknown;

  constructor(context: FeedContext, runId: RunId) {
    this.#context = context;
    this.#runId = runId;
    void this.#keepUp();
  }

  /** Events after that number, empty when there are none yet; undefined when they have to be read from the store. */
  after(number: number): readonly RunEvent[] | undefined {
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#newest === null || number >= this.#newest) return [];
    const at = number + 1 - (this.#kept[0]?.number ?? Number.POSITIVE_INFINITY);
    return at < 0 ? undefined : this.#kept.slice(at, at + MAX_EVENTS);
  }

  endsAt(number: number): boolean {
    return this.#last !== null && number >= this.#last;
  }

  close(): void {
    this.#closed.abort();
    this.#unsubscribe();
  }

  async #keepUp(): Promise<void> {
    const { clock } = this.#context;
    try {
      for (let readAt = Number.NEGATIVE_INFINITY; ;) {
        const mayEndGap = this.#ahead.size > 0 || this.#ending;
        const dueAt = Math.min(this.#readDueAt, mayEndGap ? readAt + GAP_REREAD_MS : Number.POSITIVE_INFINITY);
        const now = clock.monotonic();
        if (now >= dueAt) {
          readAt = now;
          this.#subscription ??= this.#subscribe();
          this.#readDueAt = this.#knownAt > now ? this.#knownAt : now + REREAD_MS;
          if (!(await this.#readStore())) this.#readDueAt = now;
          this.#tellFollowers();
        } else {
          await this.#wake.wait(dueAt - now, this.#closed.signal);
        }
        if (this.#closed.signal.aborted || this.#last !== null) break;
      }
    } catch (error) {
      this.#fault = error;
      this.#tellFollowers();
    }
    this.#unsubscribe();
  }

  /** Answers false when the store has more events, which are read at once. */
  async #readStore(): Promise<boolean> {
    const { aggregates, events } = this.#context.stores;
    try {
      if (this.#newest === null || this.#ending) {
        const head = await aggregates.loadHead(this.#runId);
        if (head === undefined) throw noRun(this.#runId, undefined);
        if (this.#newest === null) this.#beginAfter(head.eventNumber);
        this.#ending ||= head.final;
        if (head.settled && this.#newest === head.eventNumber) {
          this.#last = head.eventNumber;
          return true;
        }
      }
      const stored = await events.read(this.#runId, this.#newest!, MAX_EVENTS);
      for (const event of stored) this.#accept(event);
      return isLastPage(stored, MAX_EVENTS);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return true;
    }
  }

  #subscribe(): Promise<Unsubscribe> {
    const subscription = this.#context.feed.follow(runChannel(this.#runId), (payload) => {
      const event = payload as RunEvent;
      // The content of a pushed event is in the store alone.
      if (isPushed(event)) return this.#readNow();
      this.#accept(event);
      this.#tellFollowers();
    });
    subscription.then(
      () => {
        // Events from before the subscription are in the store, and those from before all nodes knew of it.
        this.#knownAt = this.#context.clock.monotonic() + KNOWN_MS;
        this.#readNow();
      },
      () => (this.#subscription = undefined),
    );
    return subscription;
  }

  #unsubscribe(): void {
    this.#subscription?.then((leave) => leave()).catch(() => {});
  }

  #readNow(): void {
    this.#readDueAt = Number.NEGATIVE_INFINITY;
    this.#wake.raise();
  }

  #beginAfter(number: number): void {
    this.#newest = number;
    for (const known of this.#ahead.keys()) if (known <= number) this.#ahead.delete(known);
    this.#keepAhead();
  }

  #accept(event: RunEvent): void {
    const next = this.#newest === null ? null : this.#newest + 1;
    if (next !== null && event.number < next) return;
    // An event that is dropped here is in the store.
    if (event.number !== next && this.#ahead.size >= KEPT_EVENTS) return;
    this.#ahead.set(event.number, event);
    if (next !== null) this.#keepAhead();
  }

  /** Moves the events that now follow without a gap to the kept ones. */
  #keepAhead(): void {
    for (
      let event = this.#ahead.get(this.#newest! + 1);
      event !== undefined;
      event = this.#ahead.get(event.number + 1)
    ) {
      this.#ahead.delete(event.number);
      this.#kept.push(event);
      this.#newest = event.number;
      if (event.object === "pipeline" && isFinalRunStatus(event.status as RunStatus)) this.#ending = true;
    }
    if (this.#kept.length > 2 * KEPT_EVENTS) this.#kept = this.#kept.slice(-KEPT_EVENTS);
    while (contentLength(this.#kept) > KEPT_CONTENT) this.#kept = this.#kept.slice(Math.ceil(this.#kept.length / 2));
    if (this.#ahead.size > 0 || this.#ending) this.#wake.raise();
  }

  #tellFollowers(): void {
    for (const changed of this.followers) changed.raise();
  }
}

/**
 * The stored events after `last`, without a gap. Empty while the store is unavailable: the next read finds them. Throws
 * `not_found` when the missing events were deleted.
 */
async function readEvents(
  context: FeedContext,
  runId: RunId,
  last: number,
  limit: number,
): Promise<readonly RunEvent[]> {
  try {
    const events = contiguous(await context.stores.events.read(runId, last, limit), last);
    if (events.length === 0) await requireKeptEvents(context, runId);
    return events;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    context.log.debug(
      { runId, error: error.message },
      "the store is unavailable: a run is followed from the feed alone",
    );
    return [];
  }
}

/** The events that follow `last` without a gap: an event may be stored a moment later than the events around it. */
function contiguous(events: readonly RunEvent[], last: number): readonly RunEvent[] {
  const gapAt = events.findIndex(({ number }, at) => number !== last + 1 + at);
  return gapAt < 0 ? events : events.slice(0, gapAt);
}

function isUnavailable(error: unknown): error is MillraceError {
  return error instanceof MillraceError && error.reason === "unavailable";
}
