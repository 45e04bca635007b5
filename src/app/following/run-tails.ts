/**
 * The event logs of runs as this process follows them. Whoever follows keeps nothing but a number: what is new is heard
 * once for all who follow the same run, and what is older is read from the store as fast as it is taken.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";
import { isFinalRunStatus, type RunStatus } from "../../domain/status.ts";
import { runChannel, type Unsubscribe } from "../../feed/feed.ts";
import type { AppContext, WithStores } from "../context.ts";
import { requireEvents } from "../runs/dropped-parts.ts";
import { noRun } from "../find.ts";
import { Signal } from "../signal.ts";

const REREAD_MS = 5_000;
/** After a gap: the missing event may be stored a moment later than a newer one is heard of. Likewise before the end. */
const SOON_MS = 200;
const EVENTS_AT_ONCE = 100;
/** The newest ones, for those who follow closely; and those heard above a gap. */
const KEPT_EVENTS = 200;
/** Longer than anybody follows without an event; timers take no more. */
const UNTIL_CHANGED_MS = 2 ** 31 - 1;

type TailContext = Pick<AppContext, "feed" | "clock" | "log"> & WithStores<"aggregates" | "events">;

export interface RunFollowing {
  readonly runId: RunId;
  /** Number of the last event that is known already. */
  readonly after: number;
  readonly abort: AbortSignal;
}

export class RunTails {
  readonly #context: TailContext;
  readonly #tails = new Map<RunId, RunTail>();

  constructor(context: TailContext) {
    this.#context = context;
  }

  /**
   * The events of a run after a number, some at a time: each once, in order, without a gap. Ends when the run is settled
   * and all are given. A feed or a store that is away only delays them. Throws `not_found` when the run is gone, or events that are asked for.
   */
  async *follow({ runId, after, abort }: RunFollowing): AsyncGenerator<readonly RunEvent[], void, void> {
    const tail = this.#tails.get(runId) ?? new RunTail(this.#context, runId);
    this.#tails.set(runId, tail);
    const changed = new Signal();
    tail.followers.add(changed);
    try {
      for (let last = after; !abort.aborted;) {
        const kept = tail.after(last);
        const events = kept ?? (await readEvents(this.#context, runId, last));
        if (events.length > 0) {
          last = events.at(-1)!.number;
          yield events;
        } else if (tail.endsAt(last)) {
          return;
        } else {
          await changed.wait(kept === undefined ? SOON_MS : UNTIL_CHANGED_MS, abort);
        }
      }
    } finally {
      tail.followers.delete(changed);
      if (tail.followers.size === 0) {
        tail.close();
        if (this.#tails.get(runId) === tail) this.#tails.delete(runId);
      }
    }
  }
}

/** What is new in one run, from the moment at which the first one followed it. */
class RunTail {
  readonly followers = new Set<Signal>();
  readonly #context: TailContext;
  readonly #runId: RunId;
  readonly #closed = new AbortController();
  readonly #heard = new Signal();
  /** The newest, without a hole. */
  #kept: RunEvent[] = [];
  /** Number of the last one that is known with all before it; null until the run has been read. */
  #newest: number | null = null;
  /** Heard of while one before them was missing. */
  readonly #ahead = new Map<number, RunEvent>();
  #subscription: Promise<Unsubscribe> | undefined;
  /** When the store is read again, by the monotonic clock. */
  #lookAt = Number.NEGATIVE_INFINITY;
  /** The run is final, and may still owe something. */
  #ending = false;
  /** Number of the very last event, once nothing is owed any more. */
  #last: number | null = null;
  #fault: unknown;

  constructor(context: TailContext, runId: RunId) {
    this.#context = context;
    this.#runId = runId;
    void this.#keepUp();
  }

  /** Some events after that number, none when there are none yet; undefined when they have to be read from the store. */
  after(number: number): readonly RunEvent[] | undefined {
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#newest === null || number >= this.#newest) return [];
    const at = number + 1 - (this.#kept[0]?.number ?? Number.POSITIVE_INFINITY);
    return at < 0 ? undefined : this.#kept.slice(at, at + EVENTS_AT_ONCE);
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
      for (let lookedAt = Number.NEGATIVE_INFINITY; ;) {
        const isHurried = this.#ahead.size > 0 || this.#ending;
        const dueAt = Math.min(this.#lookAt, isHurried ? lookedAt + SOON_MS : Number.POSITIVE_INFINITY);
        const now = clock.monotonic();
        if (now >= dueAt) {
          lookedAt = now;
          this.#subscription ??= this.#subscribe();
          this.#lookAt = now + REREAD_MS;
          if (!(await this.#look())) this.#lookAt = now;
          this.#tellFollowers();
        } else {
          await this.#heard.wait(dueAt - now, this.#closed.signal);
        }
        if (this.#closed.signal.aborted || this.#last !== null) break;
      }
    } catch (error) {
      this.#fault = error;
      this.#tellFollowers();
    }
    this.#unsubscribe();
  }

  /** Answers false when there is more to read at once. */
  async #look(): Promise<boolean> {
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
      const stored = await events.read(this.#runId, this.#newest!, EVENTS_AT_ONCE);
      for (const event of stored) this.#accept(event);
      return stored.length < EVENTS_AT_ONCE;
    } catch (error) {
      if (!isAway(error)) throw error;
      return true;
    }
  }

  #subscribe(): Promise<Unsubscribe> {
    const subscription = this.#context.feed.subscribe(runChannel(this.#runId), (payload) => {
      this.#accept(payload as RunEvent);
      this.#tellFollowers();
    });
    subscription.then(
      // What happened before it stood is in the store.
      () => this.#lookNow(),
      () => (this.#subscription = undefined),
    );
    return subscription;
  }

  #unsubscribe(): void {
    this.#subscription?.then((leave) => leave()).catch(() => {});
  }

  #lookNow(): void {
    this.#lookAt = Number.NEGATIVE_INFINITY;
    this.#heard.raise();
  }

  #beginAfter(number: number): void {
    this.#newest = number;
    for (const heard of this.#ahead.keys()) if (heard <= number) this.#ahead.delete(heard);
    this.#keepAhead();
  }

  #accept(event: RunEvent): void {
    const next = this.#newest === null ? null : this.#newest + 1;
    if (next !== null && event.number < next) return;
    // Those that are left out are in the store.
    if (event.number !== next && this.#ahead.size >= KEPT_EVENTS) return;
    this.#ahead.set(event.number, event);
    if (next !== null) this.#keepAhead();
  }

  /** Keeps what now follows without a hole. */
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
    if (this.#ahead.size > 0 || this.#ending) this.#heard.raise();
  }

  #tellFollowers(): void {
    for (const changed of this.followers) changed.raise();
  }
}

/**
 * What the store has after `last`, without a hole; nothing while it is away, since the next look will find it. Throws
 * `not_found` when what is missing was removed.
 */
async function readEvents(context: TailContext, runId: RunId, last: number): Promise<readonly RunEvent[]> {
  try {
    const events = contiguous(await context.stores.events.read(runId, last, EVENTS_AT_ONCE), last);
    if (events.length === 0) await requireEvents(context, runId);
    return events;
  } catch (error) {
    if (!isAway(error)) throw error;
    context.log.debug({ runId, error: error.message }, "a run is followed without the store");
    return [];
  }
}

/** Those that follow `last` without a hole: one in between may be stored a moment later than those around it. */
function contiguous(events: readonly RunEvent[], last: number): readonly RunEvent[] {
  const hole = events.findIndex(({ number }, at) => number !== last + 1 + at);
  return hole < 0 ? events : events.slice(0, hole);
}

function isAway(error: unknown): error is MillraceError {
  return error instanceof MillraceError && error.reason === "unavailable";
}
